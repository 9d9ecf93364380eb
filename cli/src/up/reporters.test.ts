import { describe, expect, it } from 'vitest';
import type { QuarantinedObject } from '@haptic/core/contract';
import type { Terminal } from '../terminal.ts';
import { jsonReporter } from './json-reporter.ts';
import { logLines } from './log-lines.ts';
import { textReporter } from './text-reporter.ts';

const held: QuarantinedObject = {
  watch: 'ingresses',
  object: { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', namespace: 'shop', name: 'bad' },
  revision: 'r',
  reason: "unknown keyword 'bogus'\nand more",
  instead: 'unavailable',
  since: 0,
};

const ofTheCluster = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'IngressClass',
  namespace: '',
  name: 'haptic',
} as const;

function terminal() {
  const lines: string[] = [];
  const said: Terminal = {
    out: (text) => void lines.push(text),
    err: (text) => void lines.push(text),
    style: (_tone, text) => text,
  };
  return { said, lines };
}

describe('haptic up', () => {
  it('says who is held, why, and what is served meanwhile; and when it is over', () => {
    const { said, lines } = terminal();
    const reporter = textReporter(said);
    reporter.held(held);
    reporter.held({ ...held, instead: 'accepted', reason: 'no' });
    reporter.released({ ...held, because: 'mended' });
    expect(lines).toEqual([
      'held     Ingress shop/bad until it is mended: its routes answer 503',
      "         unknown keyword 'bogus'",
      '         and more',
      'held     Ingress shop/bad until it is mended: it is served as it was before',
      '         no',
      'released Ingress shop/bad, which is mended',
    ]);
  });

  it('says what is taken back, and why', () => {
    const { said, lines } = terminal();
    const finding = {
      judge: 'validator-haproxy',
      phase: 'haproxy',
      severity: 'error',
      message: "unexpected character 's' in 'timeout queue'",
      path: 'haproxy.cfg',
      line: 7,
      provenance: { snippet: 'timeouts', source: 'base', line: 3, objects: [held.object, ofTheCluster] },
    } as const;
    const change = { planId: 'p', changes: ['updated ingresses shop/bad'], findings: [finding] };
    textReporter(said).refused(change);
    expect(lines.splice(0)).toEqual([
      'refused  updated ingresses shop/bad: taken back to what HAProxy accepted before',
      "         error: validator-haproxy: haproxy.cfg:7: unexpected character 's' in 'timeout queue'",
      '           from the snippet "timeouts" (base), line 3',
      '           for Ingress shop/bad',
      '           for IngressClass haptic',
    ]);
    jsonReporter(said).refused(change);
    expect(JSON.parse(lines[0]!)).toEqual({ event: 'refused', ...change });
  });

  it('says so to scripts as events', () => {
    const { said, lines } = terminal();
    jsonReporter(said).released({ ...held, because: 'deleted' });
    expect(JSON.parse(lines[0]!)).toMatchObject({
      event: 'released',
      because: 'deleted',
      object: { name: 'bad' },
    });
  });

  it('does not say it once more from the log', () => {
    const { said, lines } = terminal();
    const log = logLines(said);
    log.write(
      JSON.stringify({ level: 'warn', component: 'quarantine', object: 'Ingress shop/bad', msg: 'held' }),
    );
    log.write(JSON.stringify({ level: 'error', component: 'controller', takenBack: true, msg: 'refused' }));
    log.write(JSON.stringify({ level: 'error', component: 'quarantine', msg: 'broken' }));
    expect(lines).toEqual(['error   broken (component="quarantine")']);
  });
});
