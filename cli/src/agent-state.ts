import type { AgentState } from '@haptic/agent/protocol';
import type { Style } from './terminal.ts';

type Row = readonly [name: string, words: string];

/** An agent's state for people, a line for each thing; the JSON of it has everything. */
export function describeState(state: AgentState, style: Style): string {
  const rows = [...runningRows(state, style), ...waitingRows(state), ...detailRows(state, style)];
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, words]) => `${style('strong', name.padEnd(width))}  ${words}`).join('\n');
}

function runningRows(state: AgentState, style: Style): Row[] {
  const { applied, generation, lkg, worker, haproxyVersion, inStep } = state;
  const process =
    worker === null
      ? style('bad', 'does not answer')
      : `${haproxyVersion ?? 'unknown'}, worker ${worker.pid} since ${new Date(worker.startedAt * 1_000).toISOString()}`;
  return [
    ['applied', applied === null ? 'nothing yet' : `${applied}, generation ${generation}`],
    ['HAProxy', process],
    ['in step', inStep ? style('good', 'it runs what is applied') : style('bad', notInStep(state))],
    ['last known good', lkg === null ? 'none' : lkg === applied ? 'what is applied' : lkg],
  ];
}

function notInStep({ running }: AgentState): string {
  return running === null ? 'no, and what it runs is not known' : `no, it loaded ${running}`;
}

function waitingRows({ pendingReload, pendingDeletes, lastApply }: AgentState): Row[] {
  return [
    ...(pendingReload === null
      ? []
      : [['reload', `due in ${Math.ceil(pendingReload.dueMs)} ms`] satisfies Row]),
    ...(pendingDeletes.length === 0 ? [] : [['to be deleted', pendingDeletes.join(', ')] satisfies Row]),
    ...(lastApply === null ? [] : [['last apply', describeAnswer(lastApply)] satisfies Row]),
  ];
}

function describeAnswer(answer: NonNullable<AgentState['lastApply']>): string {
  const { outcome, stage, durationMs, fellBack, rolledBack, message, skew } = answer;
  const facts = [
    stage === undefined ? outcome : `${outcome} (${stage})`,
    ...(fellBack ? ['fell back'] : []),
    ...(rolledBack ? ['rolled back'] : []),
    ...(skew.length > 0 ? [`does not know ${skew.join(', ')}`] : []),
  ];
  return `${facts.join(', ')}, in ${durationMs} ms${message === undefined ? '' : `: ${message}`}`;
}

function detailRows({ token, files, tls, plan, drift }: AgentState, style: Style): Row[] {
  return [
    ...(token === null ? [] : [['newest token', `epoch ${token.epoch}, number ${token.seq}`] satisfies Row]),
    ...(files === undefined ? [] : [['files', String(Object.keys(files).length)] satisfies Row]),
    ...(tls === undefined
      ? []
      : [['TLS', `${tls.leaf}, trusts ${tls.authorities.join(', ')}`] satisfies Row]),
    ...(plan == null ? [] : [['stored plan', `${plan.chunks.length} parts`] satisfies Row]),
    ...(drift === undefined ? [] : [['drift', driftWords(drift, style)] satisfies Row]),
  ];
}

function driftWords(drift: readonly string[], style: Style): string {
  return drift.length === 0 ? style('good', 'none') : style('bad', drift.join(', '));
}
