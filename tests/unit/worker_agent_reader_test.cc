#include "worker/agent_reader.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "worker/agent_judgement.h"

namespace arena {

namespace {

// The definitions that are shipped: what is tested is what runs.
AgentSpec shipped(const std::string& name) {
  const fs::path file =
      fs::path(ARENA_TEST_DATA).parent_path().parent_path() / "worker/agents" / (name + ".yaml");
  std::ifstream stream(file.string());
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  auto spec = parse_agent_spec(text, name);
  if (!spec) FAIL(spec.error().message);
  return *spec;
}

struct Read {
  AgentReading reading;
  std::string log;
  bool final = false;
};

Read read(const AgentSpec& spec, const std::string& output, std::size_t piece = 1 << 16) {
  Read read;
  AgentReader reader(spec, [&read](std::string_view text) { read.log += text; });
  for (std::size_t at = 0; at < output.size(); at += piece)
    reader.take(std::string_view(output).substr(at, piece));
  reader.finish();
  read.reading = reader.reading();
  read.final = reader.saw_final_event();
  return read;
}

AgentJudgement judge(const AgentSpec& spec, const std::string& output, const ProcessEnd& end, bool changed) {
  return judge_agent(spec, read(spec, output).reading, end, changed);
}

const std::string kClaudeInit = R"({"type":"system","subtype":"init","model":"m-1","tools":["Bash"]})"
                                "\n";
const std::string kClaudeWork =
    R"({"type":"stream_event","event":{"type":"message_start","message":{"usage":{"input_tokens":10,"output_tokens":1}}}})"
    "\n"
    R"({"type":"assistant","message":{"content":[{"type":"text","text":"I look"},{"type":"tool_use","name":"Bash","input":{"command":"ls -l"}}]}})"
    "\n"
    R"({"type":"stream_event","event":{"type":"message_delta","usage":{"output_tokens":5}}})"
    "\n"
    R"({"type":"user","message":{"content":[{"type":"tool_result","content":"src"}]}})"
    "\n";
const std::string kClaudeDone =
    R"({"type":"result","subtype":"success","is_error":false,"result":"All done","stop_reason":"end_turn","total_cost_usd":0.25,)"
    R"("usage":{"input_tokens":30,"cache_creation_input_tokens":2,"cache_read_input_tokens":7,"output_tokens":15}})"
    "\n";

std::string claude_failure(int status) {
  return fmt::format(
      R"({{"type":"result","subtype":"success","is_error":true,"api_error_status":{},"result":"API Error",)"
      R"("usage":{{"input_tokens":0,"output_tokens":0}}}})"
      "\n",
      status);
}

}  // namespace

TEST_SUITE_BEGIN("agent_reader");

TEST_CASE("every shipped agent definition can be read and its default command line be built") {
  PlaceholderValues place;
  for (const std::string& name : place_placeholder_names()) place[name] = "P";
  for (const char* name : {"claude_code", "codex", "cursor", "command", "nop", "oracle", "geak_v3",
                           "geak_v3_triton", "geak_v4", "mini_swe_triton", "forge"}) {
    CAPTURE(name);
    const AgentSpec spec = shipped(name);
    AgentSettings settings;
    if (spec.argv_from_config) settings.command = {"x"};
    const auto argv = make_agent_argv(spec, settings, place);
    REQUIRE_MESSAGE(argv, (argv ? "" : argv.error().message));
    CHECK(argv->empty() == (spec.action != AgentSpec::Action::run));
    CHECK(check_agent_settings(spec, settings));
  }
}

TEST_CASE("the command lines are those of v0.2 and v0.3, and null leaves a flag out") {
  PlaceholderValues place;
  for (const std::string& name : place_placeholder_names()) place[name] = "/w";
  const auto line = [&](const char* name, const AgentSettings& settings) {
    const auto argv = make_agent_argv(shipped(name), settings, place);
    REQUIRE(argv);
    return fmt::format("{}", fmt::join(*argv, " "));
  };
  CHECK(
      line("claude_code", {}) ==
      "claude --print --verbose --output-format stream-json --include-partial-messages --permission-mode "
      "bypassPermissions --no-session-persistence --model claude-sonnet-5 --effort max --input-format text");
  CHECK(line("codex", {}) ==
        "codex exec --json --dangerously-bypass-approvals-and-sandbox --skip-git-repo-check --ephemeral -c "
        "features.memories=false --cd /w --model gpt-5.5 -c model_reasoning_effort=\"xhigh\" -- -");
  AgentSettings none;
  none.model_is_null = none.effort_is_null = true;
  none.max_budget_usd = 2.5;
  CHECK(line("claude_code", none) ==
        "claude --print --verbose --output-format stream-json --include-partial-messages --permission-mode "
        "bypassPermissions --no-session-persistence --max-budget-usd 2.5 --input-format text");
  AgentSettings effort;
  effort.effort = "high";
  const auto refused = check_agent_settings(shipped("cursor"), effort);
  REQUIRE_FALSE(refused);
  CHECK(contains(refused.error().message, "agent.effort: the agent 'cursor' does not take it"));
}

TEST_CASE("a session is read the same in pieces of any size") {
  const AgentSpec spec = shipped("claude_code");
  const std::string session = kClaudeInit + kClaudeWork + kClaudeDone;
  for (const std::size_t piece : {1, 2, 3, 7, 100, 100'000}) {
    CAPTURE(piece);
    const Read got = read(spec, session, piece);
    CHECK(got.reading.model == "m-1");
    CHECK(got.reading.tool_calls == 1);
    CHECK(got.reading.said);
    CHECK(got.final);
    CHECK(got.reading.success == true);
    CHECK(got.reading.usage.input_tokens == 32);
    CHECK(got.reading.usage.cached_tokens == 7);
    CHECK(got.reading.usage.output_tokens == 15);
    CHECK(got.reading.usage.cost_usd == 0.25);
    CHECK(got.log ==
          "== model m-1\nI look\n> Bash ls -l\nsrc\n== ended, 0.2500 USD, 32 tokens in, 7 cached, 15 out: "
          "All done\n");
  }
}

TEST_CASE("a session that is cut short has used what it had used") {
  const Read got = read(shipped("claude_code"), kClaudeInit + kClaudeWork);
  CHECK_FALSE(got.final);
  CHECK_FALSE(got.reading.success);
  CHECK(got.reading.usage.input_tokens == 10);
  CHECK(got.reading.usage.output_tokens == 5);
  CHECK_FALSE(got.reading.usage.cost_usd);
}

TEST_CASE("bytes that are no text do not hide the event around them") {
  const AgentSpec spec = shipped("claude_code");
  std::string broken = kClaudeDone;
  broken.replace(broken.find("All done"), 8, std::string("A\xff\xc3 \x00 b", 7));
  const Read got = read(spec, "\xe2\x82\n" + std::string("\0\0\n", 3) + broken, 5);
  CHECK(got.final);
  CHECK(got.reading.usage.output_tokens == 15);
  for (const char* line :
       {"{\n", "[]\n", "{}\n", "nul\n", "{\"type\":5}\n", "{\"type\":\"result\",\"usage\":[1,{\"a\":2}]}\n",
        "{\"type\":\"assistant\",\"message\":{\"content\":[7,{\"type\":\"text\"}]}}\n"}) {
    CAPTURE(line);
    CHECK(read(spec, line + kClaudeDone).reading.usage.output_tokens == 15);
  }
}

TEST_CASE("a line of 50 MB is counted, not kept, and the next one is read") {
  const AgentSpec spec = shipped("claude_code");
  AgentReader reader(spec, [](std::string_view text) { CHECK(text.size() < 10'000); });
  const std::string piece(1 << 20, 'x');
  reader.take("{\"type\":\"user\",\"text\":\"");
  for (int i = 0; i < 50; ++i) reader.take(piece);
  reader.take("\"}\n" + kClaudeDone);
  CHECK(reader.saw_final_event());
  CHECK(reader.reading().events == 1);
  CHECK(reader.reading().tail.size() < 100'000);
}

TEST_CASE("deep nesting is read without a deep stack") {
  const std::string deep(1 << 20, '[');
  const Read got = read(shipped("claude_code"), "{\"type\":" + deep + "\n" + kClaudeDone);
  CHECK(got.final);
}

TEST_CASE("codex and cursor sessions are read") {
  const Read codex = read(
      shipped("codex"),
      R"({"type":"thread.started","thread_id":"t"})"
      "\n"
      R"({"type":"item.started","item":{"type":"command_execution","command":"ls"}})"
      "\n"
      R"({"type":"item.completed","item":{"type":"command_execution","command":"ls","aggregated_output":"src\n"}})"
      "\n"
      R"({"type":"item.completed","item":{"type":"file_change","changes":[{"kind":"update","path":"src/k.cc"}]}})"
      "\n"
      R"({"type":"item.completed","item":{"type":"agent_message","text":"done"}})"
      "\n"
      R"({"type":"turn.completed","usage":{"input_tokens":20,"cached_input_tokens":5,"output_tokens":10}})"
      "\n");
  CHECK(codex.final);
  CHECK(codex.reading.tool_calls == 2);
  CHECK(codex.reading.usage.input_tokens == 15);
  CHECK(codex.reading.usage.total_tokens() == 30);
  CHECK_FALSE(codex.reading.usage.cost_usd);
  CHECK(contains(codex.log, "> ls\nsrc\n> file_change \n  update src/k.cc\ndone\n== ended"));

  const Read cursor = read(
      shipped("cursor"),
      R"({"type":"system","subtype":"init","model":"Composer"})"
      "\n"
      R"({"type":"assistant","timestamp_ms":5,"message":{"content":[{"type":"text","text":"he"}]}})"
      "\n"
      R"({"type":"tool_call","subtype":"started","tool_call":{"readToolCall":{"args":{"path":"a.cc"}}}})"
      "\n"
      R"({"type":"tool_call","subtype":"completed","tool_call":{"readToolCall":{"args":{"path":"a.cc"}}}})"
      "\n"
      R"({"type":"assistant","message":{"content":[{"type":"text","text":"hello"}]}})"
      "\n"
      R"({"type":"result","subtype":"success","is_error":false,"result":"hello"})"
      "\n");
  CHECK(cursor.final);
  CHECK(cursor.reading.tool_calls == 1);
  CHECK_FALSE(cursor.reading.usage.total_tokens());
  CHECK(cursor.log == "== model Composer\n> readToolCall a.cc\nhello\n== ended: hello\n");
}

TEST_CASE("how an agent ended is judged from events, use, change and exit together") {
  const AgentSpec claude = shipped("claude_code");
  const std::string work = kClaudeInit + kClaudeWork;
  const std::string silent_success =
      R"({"type":"result","subtype":"success","is_error":false,"result":"%","usage":{"input_tokens":0,"output_tokens":0}})"
      "\n";
  const auto saying = [&](const std::string& text) {
    std::string event = silent_success;
    return kClaudeInit + event.replace(event.find('%'), 1, text);
  };
  const ProcessEnd ok = Exited{0};
  const ProcessEnd bad = Exited{1};
  const ProcessEnd hard = TimedOut{std::chrono::seconds(60)};
  const ProcessEnd idle = TimedOut{std::chrono::seconds(60), TimedOut::Timer::idle};
  const ProcessEnd grace = TimedOut{std::chrono::seconds(20), TimedOut::Timer::final_grace};
  const std::string retry_529 =
      R"({"type":"system","subtype":"api_retry","error_status":529,"error":"overloaded"})"
      "\n";
  struct Case {
    const char* name;
    std::string output;
    ProcessEnd end;
    bool changed;
    AgentResult result;
    AgentConsequence consequence;
  };
  using R = AgentResult;
  using C = AgentConsequence;
  for (const Case& one : std::vector<Case>{
           {"done", work + kClaudeDone, ok, true, R::done, C::evaluate},
           {"without change", work + kClaudeDone, ok, false, R::done_without_change, C::evaluate},
           {"a bad exit code after a good end", work + kClaudeDone, bad, true, R::done, C::evaluate},
           {"never exits after its end", work + kClaudeDone, grace, true, R::done, C::evaluate},
           {"silent after work", work, idle, true, R::timed_out, C::evaluate},
           {"out of time without change", work, hard, false, R::timed_out, C::evaluate},
           {"silent from the start", kClaudeInit, idle, false, R::timed_out, C::time_out},
           {"not a byte", "", idle, false, R::timed_out, C::time_out},
           {"crash without a word", "", bad, false, R::failed, C::no_score},
           {"crash after work", work, Signaled{11, false}, true, R::failed, C::evaluate},
           {"exit 0 without an end", work, ok, true, R::failed, C::evaluate},
           {"401", kClaudeInit + claude_failure(401), bad, false, R::auth, C::halt},
           {"401 after work", work + claude_failure(401), bad, true, R::auth, C::halt},
           {"429", kClaudeInit + claude_failure(429), bad, false, R::quota, C::halt},
           {"529", kClaudeInit + claude_failure(529), bad, false, R::overload, C::back_off},
           {"529 after a change", work + claude_failure(529), bad, true, R::overload, C::evaluate},
           {"529, then well", kClaudeInit + retry_529 + work + kClaudeDone, ok, true, R::done, C::evaluate},
           {"529 until the time is up", kClaudeInit + retry_529, hard, false, R::overload, C::back_off},
           {"success of nothing", saying("ok"), ok, false, R::empty, C::no_score},
           {"a limit told as success", saying("You've hit your limit, resets 5pm"), ok, false, R::quota,
            C::halt},
           {"an agent that speaks of limits", work + kClaudeDone + "usage limit\n", ok, false,
            R::done_without_change, C::evaluate},
           {"a refusal",
            kClaudeInit + R"({"type":"result","subtype":"success","is_error":false,"stop_reason":"refusal"})"
                          "\n",
            ok, false, R::refusal, C::evaluate},
           {"its budget is used up",
            work + R"({"type":"result","subtype":"error_max_budget_usd","is_error":true})"
                   "\n",
            bad, false, R::timed_out, C::evaluate},
       }) {
    CAPTURE(one.name);
    const AgentReading reading = read(claude, one.output).reading;
    const AgentJudgement judged = judge_agent(claude, reading, one.end, one.changed);
    CAPTURE(judged.text);
    CHECK(name_of(judged.result) == name_of(one.result));
    CHECK(consequence_of(claude, judged.result, reading, one.changed) == one.consequence);
    CHECK(judged.text.find('\n') == std::string::npos);
  }
}

TEST_CASE("codex tells quota, login and overload in the text of its own events only") {
  const AgentSpec codex = shipped("codex");
  const auto failing = [](const std::string& text) {
    return nlohmann::json({{"type", "turn.failed"}, {"error", {{"message", text}}}}).dump() + "\n";
  };
  CHECK(judge(codex, failing("unexpected status 401 Unauthorized: x"), Exited{1}, false).result ==
        AgentResult::auth);
  CHECK(judge(codex, failing("Quota exceeded. Check"), Exited{1}, false).result == AgentResult::quota);
  CHECK(judge(codex, failing("You\u2019ve hit your usage limit."), Exited{1}, false).result ==
        AgentResult::quota);
  CHECK(judge(codex, failing("unexpected status 503 Service Unavailable"), Exited{1}, false).result ==
        AgentResult::overload);
  CHECK(judge(codex, failing("something else"), Exited{1}, true).result == AgentResult::failed);
  const std::string message =
      R"({"type":"item.completed","item":{"type":"agent_message","text":"Quota exceeded, 401 Unauthorized"}})"
      "\n"
      R"({"type":"turn.completed","usage":{"output_tokens":9}})"
      "\n";
  CHECK(judge(codex, message, Exited{0}, true).result == AgentResult::done);
}

TEST_CASE("a plain program is judged by its exit and its changes") {
  const AgentSpec plain = shipped("command");
  CHECK(judge(plain, "quota exceeded\n", Exited{0}, true).result == AgentResult::done);
  CHECK(judge(plain, "", Exited{0}, false).result == AgentResult::done_without_change);
  const AgentJudgement failed = judge(plain, "one\nlast words\n", Exited{3}, true);
  CHECK(failed.result == AgentResult::failed);
  CHECK(contains(failed.text, "exit code 3"));
  CHECK(contains(failed.text, "last words"));
  CHECK(consequence_of(plain, AgentResult::failed, {}, false) == AgentConsequence::no_score);
  CHECK(consequence_of(plain, AgentResult::timed_out, {}, false) == AgentConsequence::evaluate);
}

TEST_SUITE_END();

}  // namespace arena
