// A small HTTP/1.1 server on 127.0.0.1 for tests of downloads: one answer a connection, and it can
// misbehave as real servers do.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <deque>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace mf::test {

class HttpServer {
 public:
  // What is done with the next request; the last one is done with all that follow.
  struct Answer {
    std::string content;
    int status = 200;                           // anything else: an error page
    bool ranges = true;                         // whether Range is served
    std::size_t cut_after = std::string::npos;  // body bytes after which the connection is closed
  };

  HttpServer() {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
        ::listen(listener_, 16) != 0 ||
        ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
      throw std::runtime_error("the test server cannot listen");
    }
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~HttpServer() {
    ::shutdown(listener_, SHUT_RDWR);  // wakes accept
    thread_.join();
    ::close(listener_);
  }
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/files"; }

  void answer(const std::string& path, std::deque<Answer> answers) {
    const std::lock_guard lock(mutex_);
    answers_["/files/" + path] = std::move(answers);
  }

  // The values of Range of all requests so far, "" where there was none.
  std::vector<std::string> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

 private:
  void serve() {
    for (;;) {
      const int client = ::accept(listener_, nullptr, nullptr);
      if (client < 0) return;
      handle(client);
      ::shutdown(client, SHUT_WR);
      // Until the other side closes: closing first could drop what is still on its way.
      std::array<char, 256> rest;
      while (::recv(client, rest.data(), rest.size(), 0) > 0) {
      }
      ::close(client);
    }
  }

  void handle(int client) {
    std::string request;
    std::array<char, 4096> buffer;
    while (request.find("\r\n\r\n") == std::string::npos) {
      const ssize_t got = ::recv(client, buffer.data(), buffer.size(), 0);
      if (got <= 0) return;
      request.append(buffer.data(), static_cast<std::size_t>(got));
    }
    const std::size_t path_begin = request.find(' ') + 1;
    const std::string path = request.substr(path_begin, request.find(' ', path_begin) - path_begin);
    std::string range;
    if (const auto at = request.find("\r\nRange: "); at != std::string::npos) {
      range = request.substr(at + 9, request.find("\r\n", at + 2) - at - 9);
    }
    send_answer(client, next_answer(path, range), range);
  }

  Answer next_answer(const std::string& path, const std::string& range) {
    const std::lock_guard lock(mutex_);
    requests_.push_back(range);
    auto& list = answers_[path];
    if (list.empty()) return {.content = "", .status = 404};
    Answer answer = list.front();
    if (list.size() > 1) list.pop_front();
    return answer;
  }

  static void send_answer(int client, const Answer& answer, const std::string& range) {
    std::string head;
    std::string body = answer.content;
    std::size_t from = 0;
    if (answer.ranges && range.starts_with("bytes=")) from = std::stoul(range.substr(6));
    if (answer.status != 200) {
      body = "<html>an error page</html>";
      head = "HTTP/1.1 " + std::to_string(answer.status) + " Error\r\n";
    } else if (from > 0 && from >= body.size()) {
      head = "HTTP/1.1 416 Range Not Satisfiable\r\n";
      body = "<html>nothing there</html>";
    } else if (from > 0) {
      head = "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes " + std::to_string(from) + "-" +
             std::to_string(body.size() - 1) + "/" + std::to_string(body.size()) + "\r\n";
      body = body.substr(from);
    } else {
      head = "HTTP/1.1 200 OK\r\n";
    }
    head += "Content-Length: " + std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n";
    send_all(client, head);
    send_all(client, std::string_view(body).substr(0, answer.cut_after));
  }

  static void send_all(int client, std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t done = ::send(client, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (done <= 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(done));
    }
  }

  int listener_ = -1;
  int port_ = 0;
  mutable std::mutex mutex_;
  std::map<std::string, std::deque<Answer>> answers_;
  std::vector<std::string> requests_;
  std::thread thread_;
};

}  // namespace mf::test
