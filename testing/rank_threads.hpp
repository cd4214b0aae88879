// Ranks as threads of a test.
#pragma once

#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/ranks/communicator.hpp"
#include "base/ranks/thread_ranks.hpp"

namespace mf::test {

enum class AfterError { announce, say_nothing };

// Runs `body` for each of `count` ranks at once. Returns the error of each, or "": the others learn
// of it as of a rank that failed, or not at all.
inline std::vector<std::string> in_rank_threads(int count,
                                                const std::function<void(Communicator&)>& body,
                                                AfterError then = AfterError::announce) {
  auto links = make_thread_links(count);
  std::vector<std::string> errors(count);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < count; ++rank) {
    threads.emplace_back([&, rank] {
      Communicator ranks(std::move(links[rank]));
      try {
        body(ranks);
      } catch (const std::exception& error) {
        errors[rank] = error.what();
        if (then == AfterError::announce) {
          ranks.announce({rank, ErrorKind::usage, error.what()});
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  return errors;
}

}  // namespace mf::test
