#include <fmt/core.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <iterator>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "base/hash.hpp"
#include "base/json/form.hpp"
#include "base/json/json.hpp"
#include "base/rng.hpp"
#include "base/text.hpp"
#include "base/threads.hpp"
#include "testing/test_support.hpp"

namespace mf {
namespace {

std::string message_of(const std::function<void()>& action) {
  return test::error_of(action).what();
}

TEST(Text, PrintableLeavesNothingThatATerminalObeys) {
  EXPECT_EQ(printable("a\tb\nc"), "a\tb\nc");
  EXPECT_EQ(printable("\x1b[2Jx\x7f\r"), "\\x1b[2Jx\\x7f\\x0d");
  EXPECT_EQ(printable("日本 ü €"), "日本 ü €");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\xc2\\x9b31m")
      << "C1";
  EXPECT_EQ(printable("\xff\xc3"), "\\xff\\xc3") << "no UTF-8";
  EXPECT_EQ(printable("\xe0\x80\xaf\xed\xa0\x80"), "\\xe0\\x80\\xaf\\xed\\xa0\\x80");
  EXPECT_EQ(printable("a\xe2\x80\xae"
                      "b"),
            "a\\xe2\\x80\\xae"
            "b")
      << "turns the writing round";
}

TEST(Text, QuotesShowUtf8AsItIs) {
  EXPECT_EQ(in_quotes("größer 日本"), "'größer 日本'");
  EXPECT_EQ(in_quotes("a\tb\r\n\xff\x1b"), "'a\\tb\\r\\n\\xff\\x1b'");
  EXPECT_EQ(in_quotes(std::string(40, 'a')), "'" + std::string(40, 'a') + "'");
  EXPECT_EQ(in_quotes(std::string(39, 'a') + "üb"), "'" + std::string(39, 'a') + "ü...'");
}

// The three messages of FIPS 180-4's examples, and one of a million letters.
TEST(Sha256, MatchesTheStandardsExamples) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, DoesNotDependOnHowTheMessageIsCut) {
  const std::string text(300, 'x');
  Sha256 hash;
  for (std::size_t i = 0; i < text.size(); i += 7) {
    hash.update(
        std::as_bytes(std::span(text.data() + i, std::min<std::size_t>(7, text.size() - i))));
  }
  EXPECT_EQ(hash.hex(), sha256(text));
}

// The check value of the catalogues of CRCs, and a byte at every place of a word.
TEST(Crc32, MatchesItsCheckValue) {
  EXPECT_EQ(crc32("123456789"), 0xcbf43926U);
  EXPECT_EQ(crc32(""), 0U);
  EXPECT_EQ(crc32("The quick brown fox jumps over the lazy dog"), 0x414fa339U);
}

TEST(Hash64, ChangesWithEveryByteAndWithTheLength) {
  std::vector<std::byte> bytes(100);
  std::set<std::uint64_t> seen = {hash64(bytes)};
  for (auto& byte : bytes) {
    byte = std::byte{1};
    EXPECT_TRUE(seen.insert(hash64(bytes)).second);
    byte = std::byte{0};
  }
  for (std::size_t n = 0; n < 100; ++n) {
    EXPECT_TRUE(seen.insert(hash64(std::span(bytes).first(n))).second);
  }
}

TEST(Hash64, IsTheSameForAnyNumberOfThreads) {
  std::vector<std::byte> bytes(5'000'001);
  Rng rng(1);
  for (auto& byte : bytes) byte = static_cast<std::byte>(rng() & 0xff);
  EXPECT_EQ(hash64_parallel(bytes, 3, 1), hash64_parallel(bytes, 3, 4));
}

// The first two outputs of SplitMix64 seeded with 0, as its author publishes them.
TEST(Rng, MixesAsSplitMix64) {
  EXPECT_EQ(mix64(0x9e3779b97f4a7c15ULL), 0xe220a8397b1dcdafULL);
  EXPECT_EQ(mix64(2 * 0x9e3779b97f4a7c15ULL), 0x6e789e6aa1b965f4ULL);
}

TEST(Rng, StreamsDifferAndMomentsAreRight) {
  EXPECT_NE(Rng(1, 0)(), Rng(1, 1)());
  EXPECT_NE(Rng(1, 0)(), Rng(2, 0)());
  Rng rng(7);
  double sum = 0;
  double square = 0;
  const int n = 200000;
  for (int i = 0; i < n; ++i) {
    const double x = rng.normal();
    sum += x;
    square += x * x;
  }
  EXPECT_NEAR(sum / n, 0, 0.01);
  EXPECT_NEAR(square / n, 1, 0.02);
  std::vector<int> count(10);
  for (int i = 0; i < n; ++i) ++count[rng.below(10)];
  for (const int c : count) EXPECT_NEAR(c, n / 10.0, 700);
}

TEST(ThreadTeam, EveryChunkRunsOnceAndExceptionsArrive) {
  ThreadTeam team(3);
  std::vector<std::atomic<int>> hits(1000);
  for (int round = 0; round < 20; ++round) {
    team.for_chunks(1000, 7, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) ++hits[i];
    });
  }
  for (const auto& hit : hits) EXPECT_EQ(hit.load(), 20);
  EXPECT_THROW(team.run([](int t) {
    if (t == 2) fail(ErrorKind::data, "thread {}", t);
  }),
               Error);
  std::atomic<int> after{0};
  team.run([&](int) { ++after; });
  EXPECT_EQ(after.load(), 3);
}

std::ptrdiff_t threads_of_process() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
}

TEST(ThreadTeam, StartsItsThreadsWhenTheyAreFirstNeeded) {
  const auto before = threads_of_process();
  ThreadTeam team(3, ThreadTeam::Start::first_run);
  EXPECT_EQ(team.size(), 3);
  EXPECT_LE(threads_of_process(), before);  // fewer if threads of other tests were about to end
  std::vector<std::thread::id> first(3), second(3);
  team.run([&](int t) { first[t] = std::this_thread::get_id(); });
  team.run([&](int t) { second[t] = std::this_thread::get_id(); });
  EXPECT_EQ(std::set(first.begin(), first.end()).size(), 3u);
  EXPECT_EQ(first, second);
}

TEST(JsonReader, WrongTypesSayWhatWasFoundAndExpected) {
  const Json object = parse_json(R"({"a": "x", "b": 2.5, "c": 7, "d": "lu"})", "s");
  JsonReader reader(object, "$");
  EXPECT_HAS(message_of([&] { reader.number("a", 0, 0, 1); }), "the string \"x\"");
  EXPECT_HAS(message_of([&] { reader.integer("b", 0, 0, 9); }), "an integer from 0 to 9");
  EXPECT_HAS(message_of([&] { reader.integer("c", 0, 0, 5); }), "$.c");
  const std::vector<std::string> solvers = {"cg", "qr"};
  EXPECT_HAS(message_of([&] { reader.choice("d", "cg", solvers); }), "one of cg, qr");
}

TEST(JsonReader, IntegersAreExactUpToTheLargest) {
  const auto read = [](const char* text) {
    const Json json = parse_json(text, "t");
    return JsonReader(json, "$").integer("x", 0, 0, INT64_MAX);
  };
  EXPECT_EQ(read(R"({"x": 9223372036854775807})"), INT64_MAX);
  EXPECT_EQ(read(R"({"x": 9007199254740993})"), 9007199254740993);
  EXPECT_EQ(read(R"({"x": 2e1})"), 20);
  for (const char* wrong : {R"({"x": 9223372036854775808})", R"({"x": -1})", R"({"x": 2.5})",
                            R"({"x": 1e300})", R"({"x": true})"}) {
    EXPECT_THROW(read(wrong), Error) << wrong;
  }
}

enum class Shape { round, square };
constexpr Names kShapeNames{
    std::to_array<Named<Shape>>({{"round", Shape::round}, {"square", Shape::square}})};
struct Inner {
  int size = 3;
};
struct Outer {
  Shape shape = Shape::round;
  double radius = 1;
  double side = 2;
  std::optional<double> weight;
  Inner inner;
  std::string one, other;
};

Form<Outer> outer_form() {
  const auto round = Form<Outer>().number("radius", &Outer::radius, 0, 10, "");
  const auto square = Form<Outer>().number("side", &Outer::side, 0, 10, "", 5);
  const auto inner = Form<Inner>().integer("size", &Inner::size, 1, 9, "");
  return Form<Outer>()
      .kinds("shape", &Outer::shape, kShapeNames, {{Shape::round, round}, {Shape::square, square}},
             "")
      .number("weight", &Outer::weight, 0, 1, "")
      .object("inner", &Outer::inner, inner, "")
      .one_of_keys({{"one", Form<Outer>().name("one", &Outer::one, "")},
                    {"other", Form<Outer>().name("other", &Outer::other, "")}},
                   true, "expected one");
}

TEST(Form, ReadsByKindWithDefaultsAndPaths) {
  const auto form = outer_form();
  const auto read = [&](const char* text) { return form.parse(parse_json(text, "t"), "$.x"); };
  const Outer plain = read(R"({"one": "a"})");
  EXPECT_EQ(plain.shape, Shape::round);
  EXPECT_EQ(plain.radius, 1);
  EXPECT_EQ(plain.inner.size, 3);
  EXPECT_FALSE(plain.weight);
  EXPECT_EQ(read(R"({"one": "a", "shape": "square"})").side, 5) << "the field's own default";
  EXPECT_EQ(read(R"({"other": "b", "inner": {"size": 4}})").inner.size, 4);
  const auto error = [&](const char* text) { return message_of([&] { read(text); }); };
  EXPECT_EQ(error(R"({"one": "a", "side": 1})"),
            "$.x.side: found it with shape \"round\", as it has no \"shape\", expected it only "
            "with square");
  EXPECT_EQ(error(R"({"one": "a", "sides": 1})"),
            "$.x.sides: unknown key; keys allowed here: shape, radius, weight, inner, one, other");
  EXPECT_EQ(error(R"({"one": "a", "inner": {"size": 0}})"),
            "$.x.inner.size: found the number 0, expected an integer from 1 to 9");
  EXPECT_EQ(error(R"({"one": "a", "other": "b"})"), "$.x: expected one");
  EXPECT_EQ(error("{}"), "$.x: expected one");
  EXPECT_EQ(error(R"({"one": ""})"), "$.x.one: expected a name, found \"\"");
}

TEST(Form, ItsTableSaysWhatItReads) {
  const FormInfo info = outer_form().info();
  EXPECT_EQ(info.selector, "shape");
  ASSERT_EQ(info.kinds.size(), 2u);
  EXPECT_EQ(info.kinds[1].info.fields[0].value.dump(),
            R"({"type":"number","minimum":0.0,"maximum":10.0,"default":5.0})");
  EXPECT_EQ(info.without, std::vector<std::string>{"round"});
  EXPECT_EQ(info.keyed.size(), 2u);
  EXPECT_TRUE(info.keyed[0].info.fields[0].required);
}

TEST(Json, SyntaxErrorsNameFileLineAndColumn) {
  const std::string message =
      message_of([] { parse_json("{\n  \"a\": 1,\n  \"b\" 2\n}", "spec.json"); });
  EXPECT_EQ(message.rfind("spec.json:3:", 0), 0u) << message;
}

std::string json_error(const std::string& text) {
  return message_of([&] { parse_json(text, "spec.json"); });
}

TEST(Json, ANumberBeyondDoubleIsAnError) {
  EXPECT_EQ(json_error("{\n  \"learning_rate\": 1e999\n}").rfind("spec.json:2:", 0), 0u);
  EXPECT_HAS(json_error("[1e999]"), "number overflow");
  EXPECT_HAS(json_error("[-1e999]"), "not valid JSON");
  EXPECT_EQ(parse_json("[1e308, 1e-999]", "t")[0].get<double>(), 1e308);
}

TEST(Json, AKeyStandsOnceInAnObject) {
  const std::string message = json_error("{\"a\": 1, \"b\": {\"a\": 2},\n \"a\": 3}");
  EXPECT_EQ(message, "spec.json:2:4: not valid JSON: the key \"a\" stands in its object twice");
  EXPECT_HAS(json_error("{\"a\": 1, \"\\u0061\": 2}"), "the key \"a\"");
  EXPECT_EQ(parse_json(R"([{"a": 1}, {"a": {"a": 2}}])", "t").dump(), R"([{"a":1},{"a":{"a":2}}])");
}

TEST(Json, NothingHidesBehindANul) {
  const std::string text = std::string("{\"a\": 1}\n") + '\0' + "{\"b\": 2}";
  EXPECT_EQ(json_error(text), "spec.json:2:1: not valid JSON: found a NUL byte");
}

TEST(Json, DepthHasALimit) {
  const auto nested = [](int depth) {
    return std::string(depth, '[') + "\n" + std::string(depth, ']');
  };
  EXPECT_EQ(parse_json(nested(200), "t").dump(), std::string(200, '[') + std::string(200, ']'));
  EXPECT_EQ(json_error(nested(201)),
            "spec.json:1:201: not valid JSON: values are nested more than 200 deep");
  std::string objects;
  for (int i = 0; i < 200'000; ++i) objects += "{\"a\":";
  EXPECT_HAS(json_error(objects), "nested more than 200 deep");
}

TEST(Json, ReadsWhatTheLibraryReads) {
  const std::string text = R"( // a comment
    {"null": null, "flags": [true, false], "n": [0, -7, 18446744073709551615, 2.5, 1e3],
     "text": "a\u00e9\n\"", "empty": [{}, []], "deep": {"er": {"est": [[1], {"x": 2}]}} /* end */})";
  EXPECT_EQ(parse_json(text, "t"), Json::parse(text, nullptr, true, true));
  EXPECT_EQ(parse_json(text, "t").dump(), Json::parse(text, nullptr, true, true).dump());
  EXPECT_EQ(parse_json("7", "t"), 7);
  for (const char* bad : {"", "{", "[1,]", "{\"a\" 1}", "nul", "[1] 2", "\"\xff\"", "{\"a\": 1"}) {
    EXPECT_EQ(json_error(bad).rfind("spec.json:1:", 0), 0u) << bad << ": " << json_error(bad);
  }
}

// Compared with all others, as many keys would take minutes.
TEST(Json, ManyKeysAreReadInTheirOrder) {
  std::string text = "{";
  for (int i = 0; i < 300'000; ++i) text += fmt::format("{}\"k{}\":{}", i == 0 ? "" : ",", i, i);
  const Json json = parse_json(text + "}", "t");
  EXPECT_EQ(json.size(), 300'000u);
  EXPECT_EQ(std::prev(json.end()).key(), "k299999");
}

TEST(Json, CanonicalTextDoesNotDependOnTheOrderOfKeys) {
  EXPECT_EQ(canonical(parse_json(R"({"b": 1, "a": {"d": 2, "c": 3}})", "s")),
            canonical(parse_json(R"({"a": {"c": 3, "d": 2}, "b": 1})", "s")));
}

TEST(Text, NearestKnowsOtherNamesAndShortOnes) {
  const std::vector<std::string> keys = {"name", "factors", "reg",  "schedule",    "learning_rate",
                                         "stop", "seeds",   "data", "wall_seconds"};
  const std::vector<std::pair<const char*, const char*>> meant = {
      {"lr", "learning_rate"},
      {"LearningRate", "learning_rate"},
      {"learning-rate", "learning_rate"},
      {"learnig_rate", "learning_rate"},
      {"eta", "learning_rate"},
      {"learn_rate", "learning_rate"},
      {"lambda", "reg"},
      {"n_factors", "factors"},
      {"k", "factors"},
      {"num_seeds", "seeds"},
      {"random_state", "seeds"},
      {"wsec", "wall_seconds"},
      {"sched", "schedule"},
      {"zq", ""},
      {"x", ""},
      {"frobnicate", ""}};
  for (const auto& [word, key] : meant) EXPECT_EQ(nearest(word, keys), key) << word;
  EXPECT_EQ(nearest("lr", {"reg", "factors"}), "") << "no key of other names is suggested";
}

TEST(Text, AWordOfAShellIsThatWord) {
  for (const char* plain : {"--out=a/b.json", "exp_1.json", "node:1", "100%"}) {
    EXPECT_EQ(shell_word(plain), plain);
  }
  EXPECT_EQ(shell_word("two words"), "'two words'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word("$(ls)"), "'$(ls)'");
  EXPECT_EQ(shell_word(""), "''");
}

TEST(Text, LinesAndJsonForTerminals) {
  EXPECT_EQ(one_line("a\tb\n\x1b"), "a\\tb\\n\\x1b");
  const std::string turned = "\xe2\x80\xae";
  EXPECT_EQ(printable_json("{\"a\": \"ü\x7f\xc2\x9b" + turned + "\"\n}"),
            "{\"a\": \"ü\\u007f\\u009b\\u202e\"\n}");
  const Json value = {{"k", "日本\x1b\x7f\xc2\x9b" + turned}};
  EXPECT_EQ(parse_json(json_text(value), "t"), value);
  EXPECT_EQ(json_text(Json("\xff")), "\"\xef\xbf\xbd\"") << "no UTF-8";
  EXPECT_TRUE(is_harmless("日本 ü"));
  for (const char* text : {"\t", "\n", "\x7f", "\xff"}) EXPECT_FALSE(is_harmless(text)) << text;
  EXPECT_FALSE(is_harmless(turned));
}

TEST(Text, NearestAndUnits) {
  EXPECT_EQ(nearest("", {"hogwild"}), "");
  EXPECT_EQ(nearest(std::string(5000, 'h'), {"hogwild"}), "");
  EXPECT_EQ(format_bytes(1536), "1.5 KiB");
  EXPECT_EQ(format_count(12'345'678), "12.3 M");
  EXPECT_EQ(format_seconds(306), "5 min 06 s");
}

}  // namespace
}  // namespace mf
