#!/usr/bin/env bash
# agents_test.sh PROGRAMS SOURCES: the real Claude Code and Codex (versions in agents/versions.txt) and a stand-in for Cursor do
# tasks through the whole pipeline, in a network namespace with nothing but a stand-in for their model services. As root.
# packages: nodejs iproute2 util-linux procps diffutils
# shellcheck disable=SC2012  # names here are ours: no blanks, no newlines
BIN=$1
SOURCE=$2
# shellcheck source=tests/e2e/lib.sh
. "$SOURCE/tests/e2e/lib.sh"
lab=$SOURCE/tests/lab/agents
port=8765

work=$(mktemp -d)
trap 'cd /; [ "$failed" -gt 0 ] && echo "kept: $work" || rm -rf "$work"' EXIT
cd "$work" || exit 1
tools=${ARENA_AGENT_TOOLS:-$SOURCE/build/agent-tools}
"$lab/install.sh" "$tools" || { echo "0 passed, 1 failed"; exit 1; }

# Programs of our own with the same definitions but short timers: agents are data.
mkdir -p bin share/arena home/.codex cli
cp "$BIN"/arena-coord "$BIN"/arena-worker "$BIN"/arena-probe bin/
cp -rL "$SOURCE/worker/agents" share/arena/agents
ln -s "$SOURCE/worker/prompts" share/arena/prompts
ln -s "$SOURCE/tasks" share/arena/tasks
sed -i 's/^idle_timeout_seconds:.*/idle_timeout_seconds: 15/; s/^final_grace_seconds:.*/final_grace_seconds: 2/' share/arena/agents/c*.yaml
echo "overload_delay_seconds: 1" | tee -a share/arena/agents/claude_code.yaml share/arena/agents/codex.yaml >/dev/null
COORD=$work/bin/arena-coord
ln -s "$tools"/node_modules/.bin/claude "$tools"/node_modules/.bin/codex cli/
cp "$lab/cursor-agent" cli/

export HOME=$work/home PATH=$work/cli:$PATH
export LAB_SCRIPT=$work/script.json
export ANTHROPIC_BASE_URL=http://127.0.0.1:$port ANTHROPIC_API_KEY=sk-lab-claude-0123456789 CLAUDE_CODE_MAX_RETRIES=1
export CODEX_API_KEY=sk-lab-codex-0123456789 OPENAI_API_KEY=sk-lab-codex-0123456789 CURSOR_API_KEY=sk-lab-cursor-0123456789
cat >home/.codex/config.toml <<TOML
model_provider = "lab"
[model_providers.lab]
name = "lab"
base_url = "http://127.0.0.1:$port/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
request_max_retries = 1
stream_max_retries = 1
TOML
find home -type f -exec sha256sum {} + | sort >home_before

# A task whose kernel is a line of shell: what an agent scores with it is known.
tasks=$work/tasks
for i in 1 2 3 4 5 6 7 8; do
  task=$tasks/cpp2cpp/k$i
  mkdir -p "$task/src" "$task/test"
  echo "cost=8" >"$task/src/kernel.sh"
  # shellcheck disable=SC2016  # for the task's own shell
  echo '. ./src/kernel.sh; mkdir -p build; echo "[{\"test_case_id\": \"a\", \"execution_time_ms\": $cost}]" >build/performance_report.json' >"$task/test/time.sh"
  cat >"$task/config.yaml" <<YAML
task_type: cpp2cpp
source_file_path: [src/kernel.sh]
target_kernel_functions: [kernel]
compile_command: ["sh -n src/kernel.sh"]
correctness_command: ["grep -q cost src/kernel.sh"]
performance_command: ["sh test/time.sh"]
YAML
done

# config AGENT TASKS [SETTINGS]
config() {
  printf 'agent:\n  template: %s\n  model: lab-model\n%b' "$1" "${3:-}"
  printf 'tasks: [%s]\ntarget_gpu_model: CPU\nmax_attempts: 2\n' "$2"
}
# service JSON COMMAND…: with the stand-in service playing JSON.
service() {
  printf '%s' "$1" >script.json
  shift
  : >service.log
  "$lab/in_netns.sh" "$port" "$work/script.json" "$work/service.log" "$@"
}
# run JSON FLAGS…: the run configured in run.yaml, in a directory of its own; sets status and RUN (below `where`).
run() {
  local json=$1
  shift
  where=$work/runs/$((++runs))
  mkdir -p "$where"
  service "$json" "$COORD" --config run.yaml --tasks-dir "${tree:-$tasks}" --workspace-root "$where" --no-preflight "$@" >"$where/out" 2>&1
  status=$?
  RUN=$(ls -d "$where"/workspace_*/run_* 2>/dev/null | tail -n 1)
}
runs=0
result() { sed -n "s/^  *$1: //p; s/^$1: //p" "$RUN"/*_k1_*/task_result.yaml 2>/dev/null | head -n 1 | tr -d '"'; }
cause() { cat "$RUN"/.parallel/events/*.jsonl | grep '"kind": *"end"' | sed 's/.*"cause": *"\([a-z_]*\)".*/\1/' | sort | uniq -c | tr -s ' \n' ' ' | sed 's/^ //; s/ $//'; }
no_secret() { ! grep -rIl 'sk-lab-' "$RUN" "$work/logs" 2>/dev/null | grep -q .; }

edit='{"turns": [{"tool": "Bash", "input": {"command": "cat config.yaml src/kernel.sh", "description": "look"}},
  {"tool": "Bash", "input": {"command": "echo cost=2 >src/kernel.sh; env | grep KEY", "description": "edit"}},
  {"text": "Four times as fast."}]'
codex_edit='{"turns": [{"tool": "exec_command", "input": {"cmd": "cat config.yaml src/kernel.sh"}},
  {"tool": "exec_command", "input": {"cmd": "echo cost=2 >src/kernel.sh; env | grep KEY"}}, {"text": "Four times as fast."}]'

# --- check-agents ---
service "$edit}" "$COORD" check-agents --agents claude_code >out 2>&1
check "check-agents: claude answers" same $? 0
check "check-agents: its version is shown" contains out "2.1.197"
config codex k1 >run.yaml
service "$codex_edit}" "$COORD" check-agents --config run.yaml >out 2>&1
check "check-agents: codex answers, named by the configuration" same "$? $(grep -c '^ok .* answer' out)" "0 1"
service "$edit}" "$COORD" check-agents --agents Cursor >out 2>&1
check "check-agents: cursor answers, spelt in another way" same "$? $(grep -c '^ok .* answer' out)" "0 1"
service "$edit, \"faults\": {\"status\": 401, \"type\": \"authentication_error\", \"probe\": true}}" "$COORD" check-agents --agents claude_code >out 2>&1
check "check-agents: a refused login fails" same $? 1
check "check-agents: with what mends it" contains out "claude auth login"
config claude_code cpp2cpp/k1 >run.yaml
service "$edit, \"faults\": {\"status\": 401, \"type\": \"authentication_error\", \"probe\": true}}" \
  "$COORD" --config run.yaml --tasks-dir "$tasks" --workspace-root "$work/never" >out 2>&1
check "a run whose agent has no login is refused before it begins" same "$? $(ls "$work/never" 2>/dev/null)" "2 "

# --- a session that works, on a real task and on the shell's ---
config claude_code cpp2cpp/prefix_sum >run.yaml
solution=$(node -p 'JSON.stringify(require("fs").readFileSync(process.argv[1], "utf8"))' "$SOURCE/tasks/cpp2cpp/prefix_sum/solution/src/prefix_sum.cc")
tree=$SOURCE/tasks run "{\"turns\": [{\"tool\": \"Read\", \"input\": {\"file_path\": \"{workspace}/src/prefix_sum.cc\"}},
  {\"tool\": \"Write\", \"input\": {\"file_path\": \"{workspace}/src/prefix_sum.cc\", \"content\": $solution}}, {\"text\": \"done\"}]}"
check "claude: a real task is done" same "$status $(cause)" "0 1 completed"
check "claude: its kernel is correct and was timed" grep -q '^speedup_ratio:' "$RUN"/*/task_result.yaml
check "claude: its kernel counts" contains "$(ls "$RUN"/*/task_result.yaml)" "src/prefix_sum.cc"

config claude_code cpp2cpp/k1 >run.yaml
run "$edit}"
check "claude: done" same "$status $(cause)" "0 1 completed"
check "claude: the score is that of the edit" same "$(result score) $(result result)" "520.0 done"
check "claude: tokens are reported" same "$(result tokens)" 45
for file in transcript.jsonl log.txt cost.yaml changes.patch prompt.md invocation.yaml; do
  check "claude: agent/$file is kept" test -s "$RUN"/*_k1_*/agent/$file
done
check "claude: the run's costs" grep -q 'output_tokens: 15' "$RUN"/agent_costs/cpp2cpp_k1.yaml
check "claude: the patch is the edit" contains "$(ls "$RUN"/*_k1_*/agent/changes.patch)" "+cost=2"
check "claude: version and model are named" grep -q 'version: .*2.1.197' "$RUN"/*_k1_*/agent/invocation.yaml
check "claude: no secret is in the run" no_secret
check "claude: a secret it printed is crossed out" grep -q 'ANTHROPIC_API_KEY=\[secret\]' "$RUN"/*_k1_*/agent/transcript.jsonl
config codex cpp2cpp/k1 >run.yaml
run "$codex_edit}"
check "codex: done" same "$status $(cause) $(result score) $(result tokens)" "0 1 completed 520.0 45"
check "codex: no secret is in the run" no_secret
config cursor cpp2cpp/k1 '  env: [LAB_SCRIPT, LAB_LINGER]\n' >run.yaml
run "$edit}"
check "cursor: done, its cost unknown" same "$status $(cause) $(result score) $(result tokens)" "0 1 completed 520.0 "

# --- what goes wrong ---
config claude_code cpp2cpp/k1 >run.yaml
run "$edit, \"faults\": {\"hang\": true}}"
check "claude, silent service: ended by the idle timer, not scored" same "$status $(cause)" "1 1 timed_out"
check "claude, silent service: the message says so" contains "$where/out" "silent for 15 s"
run "$edit, \"faults\": {\"hang\": true, \"from_turn\": 2}}"
check "claude, silent after its edit: what it left is scored" same "$status $(cause) $(result score) $(result result)" "0 1 completed 520.0 timed_out"
config claude_code 'cpp2cpp/k1, cpp2cpp/k2, cpp2cpp/k3' >run.yaml
run "$edit, \"faults\": {\"status\": 401, \"type\": \"authentication_error\"}}" --cpu-slots 1
check "claude, 401: the run stops, all work is left in pending" same "$status $(cause) $(counts "$RUN")" "1 1 quota 3 0 0 0"
check "claude, 401: the message names the login" contains "$where/out" "the login was refused"
service "$edit}" "$COORD" --resume-run "$RUN" --no-preflight --cpu-slots 1 -q >out 2>&1
check "claude, 401: a resume does it all, no attempt was used up" same "$? $(counts "$RUN")" "0 0 0 3 0"
run "$edit, \"faults\": {\"status\": 429, \"type\": \"rate_limit_error\"}}" --cpu-slots 1
check "claude, over quota: the run stops" same "$status $(cause) $(counts "$RUN")" "1 1 quota 3 0 0 0"
config claude_code cpp2cpp/k1 >run.yaml
run "$edit, \"faults\": {\"status\": 529, \"type\": \"overloaded_error\", \"first\": 2}}"
check "claude, overloaded, then well: tried again" same "$status $(cause) $(result score)" "0 1 completed 1 infra_error 520.0"
check "claude, overloaded: both attempts are in the bill" same "$(grep -c 'attempt:' "$RUN"/agent_costs/cpp2cpp_k1.yaml)" 2
run "$edit, \"faults\": {\"drop\": true}}"
check "claude, cut stream: infrastructure, until the attempts are used up" same "$status $(cause)" "1 2 infra_error"
config claude_code 'cpp2cpp/k1, cpp2cpp/k2, cpp2cpp/k3' >run.yaml
rm cli/claude
cp "$lab/claude-empty" cli/claude
run "$edit}" --cpu-slots 1
check "claude, success of nothing: an agent error, twice in a row stops the run" same "$status $(cause) $(counts "$RUN")" "1 2 agent_error 1 0 0 2"
rm cli/claude
ln -s "$tools"/node_modules/.bin/claude cli/claude

config claude_code cpp2cpp/k1 >run.yaml
run '{"turns": [{"tool": "Bash", "input": {"command": "echo cost=4 >src/kernel.sh; setsid sleep 5432 >/dev/null 2>&1 & setsid nohup sleep 5432 & echo left", "description": "x"}}, {"text": "done"}]}'
check "claude, background process left: done and scored" same "$status $(cause) $(result score)" "0 1 completed 320.0"
check "claude, background process left: none of it is alive" same "$(pgrep -fc '^sleep 5432')" 0
check "claude, background process left: the result says so" contains "$(ls "$RUN"/*/task_result.yaml)" "had outlived the agent"
config cursor cpp2cpp/k1 '  env: [LAB_SCRIPT, LAB_LINGER]\n' >run.yaml
LAB_LINGER=1 run "$edit}"
check "cursor, does not exit after its end: what it did is scored" same "$status $(cause) $(result score) $(result result)" "0 1 completed 520.0 done"

config codex cpp2cpp/k1 >run.yaml
run "$codex_edit, \"faults\": {\"hang\": true}}"
check "codex, silent service" same "$status $(cause)" "1 1 timed_out"
run "$codex_edit, \"faults\": {\"status\": 401, \"type\": \"invalid_request_error\", \"code\": \"invalid_api_key\"}}"
check "codex, 401: stopped, left in pending" same "$status $(cause) $(counts "$RUN")" "1 1 quota 1 0 0 0"
run "$codex_edit, \"faults\": {\"status\": 429, \"type\": \"insufficient_quota\", \"code\": \"insufficient_quota\"}}"
check "codex, over quota: stopped, left in pending" same "$status $(cause) $(counts "$RUN")" "1 1 quota 1 0 0 0"
run "$codex_edit, \"faults\": {\"status\": 503, \"type\": \"server_error\", \"first\": 3}}"
check "codex, overloaded, then well" same "$status $(result score)" "0 520.0"

# --- eight at once: on a small machine their start alone takes a while ---
sed -i 's/^idle_timeout_seconds:.*/idle_timeout_seconds: 300/' share/arena/agents/claude_code.yaml
config claude_code cpp2cpp >run.yaml
run "$edit}" --cpu-slots 8
check "eight workers at once: all done" same "$status $(cause) $(counts "$RUN")" "0 8 completed 0 0 8 0"
check "eight workers at once: all with the score of the edit" same "$(grep -h '^score:' "$RUN"/*/task_result.yaml | sort | uniq -c | tr -s ' ')" " 8 score: 520.0"
check "nothing was written to the user's home" same "$(find home -type f -exec sha256sum {} + | sort)" "$(cat home_before)"
summary
