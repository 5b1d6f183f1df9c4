#!/usr/bin/env node
// service.js PORT SCRIPT.json LOG.jsonl: stands in for the model services of Claude Code (Messages API) and Codex (Responses
// API). SCRIPT is {"turns": [turn, …], "faults": {…}}.
//   turn: {"text": "…"} or {"tool": NAME, "input": {…}}, with "delay_ms". Which turn a request gets follows from the conversation it
//     sends, so that any number of agents can talk at once; the last turn repeats. "{workspace}" in an input is the directory
//     that the prompt names.
//   faults: {"status": 529, "type": "overloaded_error", "code": null, "first": 3}: the first 3 requests of a task (all without
//     "first") are answered so. {"hang": true}: never answered. {"drop": true}: the answer is cut half-way. {"from_turn": 1}: not before
//     that turn.
// A question that is no task (its last words are "ready") is answered well: arena asks it before a run. A fault with
// "probe": true goes for it too.
'use strict';
const http = require('http');
const fs = require('fs');
const [port, scriptFile, logFile] = process.argv.slice(2);
const script = JSON.parse(fs.readFileSync(scriptFile, 'utf8'));
const faults = script.faults || {};
let faulty = 0;
let number = 0;

const log = (entry) => fs.appendFileSync(logFile, JSON.stringify(entry) + '\n');
const send = (response, event, data) => response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
const fail = (response, status, body) => {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
};

// What this request gets: a fault or a turn, its input filled in.
function plan(turnsSoFar, text) {
  const probe = text.includes('Reply with the single word: ready');
  const hit = Object.keys(faults).length > 0 && (!probe || faults.probe) && turnsSoFar >= (faults.from_turn || 0) &&
    (faults.first === undefined || faulty < faults.first);
  if (hit) {
    ++faulty;
    return { fault: faults };
  }
  if (probe) return { turn: { text: 'ready' } };
  const turn = script.turns[Math.min(turnsSoFar, script.turns.length - 1)];
  const workspace = (/Your working directory is `([^`]+)`/.exec(text) || [])[1] || '';
  const input = JSON.parse(JSON.stringify(turn.input || {}).replaceAll('{workspace}', workspace));
  return { turn: { ...turn, input } };
}

function answerMessages(body, response) {
  if (!(body.tools || []).length) {  // titles and the like
    return fail(response, 200, { id: 'msg_0', type: 'message', role: 'assistant', model: body.model, stop_reason: 'end_turn',
      content: [{ type: 'text', text: 'ok' }], usage: { input_tokens: 1, output_tokens: 1 } });
  }
  const turns = body.messages.filter((message) => message.role === 'assistant').length;
  const { fault, turn } = plan(turns, JSON.stringify(body.messages));
  if (fault && fault.hang) return;
  if (fault && fault.status)
    return fail(response, fault.status, { type: 'error', error: { type: fault.type, message: 'stand-in' } });
  const block = turn && turn.tool ? { type: 'tool_use', id: `toolu_${++number}`, name: turn.tool, input: turn.input }
    : { type: 'text', text: turn ? turn.text : 'cut' };
  const usage = { input_tokens: 10, output_tokens: 1, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  send(response, 'message_start', { type: 'message_start', message: { id: `msg_${++number}`, type: 'message', role: 'assistant',
    model: body.model, content: [], stop_reason: null, stop_sequence: null, usage } });
  const empty = block.type === 'tool_use' ? { ...block, input: {} } : { type: 'text', text: '' };
  send(response, 'content_block_start', { type: 'content_block_start', index: 0, content_block: empty });
  if (fault) return response.destroy();
  const delta = block.type === 'tool_use' ? { type: 'input_json_delta', partial_json: JSON.stringify(block.input) }
    : { type: 'text_delta', text: block.text };
  send(response, 'content_block_delta', { type: 'content_block_delta', index: 0, delta });
  send(response, 'content_block_stop', { type: 'content_block_stop', index: 0 });
  const reason = block.type === 'tool_use' ? 'tool_use' : 'end_turn';
  send(response, 'message_delta', { type: 'message_delta', delta: { stop_reason: reason, stop_sequence: null },
    usage: { output_tokens: 5 } });
  send(response, 'message_stop', { type: 'message_stop' });
  response.end();
}

function answerResponses(body, response) {
  const input = Array.isArray(body.input) ? body.input : [];
  const turns = input.filter((item) => item.type === 'function_call' || (item.type === 'message' && item.role === 'assistant')).length;
  const { fault, turn } = plan(turns, JSON.stringify(input));
  if (fault && fault.hang) return;
  if (fault && fault.status)
    return fail(response, fault.status, { error: { message: 'stand-in', type: fault.type, code: fault.code || null } });
  const item = turn && turn.tool
    ? { type: 'function_call', id: `fc_${++number}`, call_id: `call_${number}`, name: turn.tool, arguments: JSON.stringify(turn.input), status: 'completed' }
    : { type: 'message', id: `msg_${++number}`, role: 'assistant', status: 'completed',
      content: [{ type: 'output_text', text: turn ? turn.text : 'cut', annotations: [] }] };
  const id = `resp_${++number}`;
  let sequence = 0;
  const event = (type, rest) => send(response, type, { type, sequence_number: sequence++, ...rest });
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  event('response.created', { response: { id, object: 'response', status: 'in_progress', output: [] } });
  event('response.output_item.added', { output_index: 0, item });
  if (fault) return response.destroy();
  event('response.output_item.done', { output_index: 0, item });
  event('response.completed', { response: { id, object: 'response', status: 'completed', output: [item],
    usage: { input_tokens: 10, input_tokens_details: { cached_tokens: 0 }, output_tokens: 5,
      output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 15 } } });
  response.end();
}

http.createServer((request, response) => {
  const pieces = [];
  request.on('data', (piece) => pieces.push(piece));
  request.on('end', () => {
    let body = {};
    try { body = JSON.parse(Buffer.concat(pieces).toString('utf8') || '{}'); } catch { /* not for us */ }
    const path = request.url.split('?')[0];
    log({ method: request.method, path, model: body.model, effort: body.reasoning && body.reasoning.effort });
    const delay = (script.turns[0] || {}).delay_ms || 0;
    if (request.method === 'POST' && path.endsWith('/messages')) return setTimeout(answerMessages, delay, body, response);
    if (request.method === 'POST' && path.endsWith('/responses')) return setTimeout(answerResponses, delay, body, response);
    if (path.endsWith('/count_tokens')) return fail(response, 200, { input_tokens: 10 });
    if (path.endsWith('/models')) return fail(response, 200, { object: 'list', data: [], models: [] });
    return fail(response, request.method === 'HEAD' ? 200 : 404, {});
  });
}).listen(Number(port), '127.0.0.1');
