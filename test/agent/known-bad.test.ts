import { createServer } from 'node:net';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { onCleanup } from '../haproxy/cleanup.ts';
import { freePort } from '../haproxy/free-port.ts';
import { request } from '../haproxy/raw-request.ts';
import { forEachVersion, versionsOfOwnLogic } from '../haproxy/versions.ts';
import { applyOf, planIdOf, type Files } from './plan.ts';
import { Pod } from './pod.ts';

/** A pod, and applies to it one after the other. */
class Applies {
  readonly pod: Pod;
  #seq = 0;
  /** In place. */
  #current: Files | undefined;

  private constructor(pod: Pod) {
    this.pod = pod;
  }

  static async start(binary: string, options: Readonly<Record<string, string>> = {}): Promise<Applies> {
    const applies = new Applies(await Pod.create(binary));
    await applies.pod.startHaproxy();
    await applies.pod.startAgent(options);
    expect(await applies.send(applies.pod.site('good'))).toMatchObject({ outcome: 'reload' });
    return applies;
  }

  async send(files: Files, more: Readonly<Record<string, unknown>> = {}) {
    const expected = this.#current === undefined ? {} : { expect: planIdOf(this.#current) };
    this.#seq += 1;
    const token = { epoch: 1, seq: this.#seq };
    const { body } = await this.pod.apply(applyOf(files, { token, ...expected, ...more }));
    if (body.outcome !== 'rejected') this.#current = files;
    return body;
  }

  async revert() {
    this.#seq += 1;
    const planId = planIdOf(this.#current!);
    const token = { epoch: 1, seq: this.#seq };
    const message = { planId, textId: '', files: [], mode: 'revert_lkg', token, expect: planId };
    return (await this.pod.apply(message)).body;
  }
}

const refused = { outcome: 'rejected', stage: 'reload', rolledBack: true };
/** By what is known of it: nothing was put in place. */
const knownBad = { outcome: 'rejected', stage: 'reload', rolledBack: false };

forEachVersion(({ binary }) => {
  test('files that HAProxy refused are not put in place by operations either', async () => {
    const applies = await Applies.start(binary);
    const { pod } = applies;
    const bad = pod.site('bad', { extra: 'bogus' });
    expect(await applies.send(bad)).toMatchObject(refused);
    const again = await applies.send(bad, { mode: 'auto' });
    expect(again).toMatchObject(knownBad);
    expect(again.message).toContain("unknown keyword 'bogus'");
    expect(await pod.tree()).toEqual(pod.site('good'));
    // Another one is new work.
    expect(await applies.send(pod.site('bad', { extra: 'bogus too' }))).toMatchObject(refused);
    expect(await applies.send(bad), 'the one before it is not forgotten').toMatchObject(knownBad);
    expect(await applies.send(pod.site('better'))).toMatchObject({ outcome: 'reload' });
  });

  test('a reload that was put off is remembered as well', async () => {
    const applies = await Applies.start(binary, { 'reload-interval-min': '1000' });
    const { pod } = applies;
    const good = pod.site('good');
    const bad = pod.site('bad', { extra: 'bogus' });
    const { generation, outcome } = await applies.send(bad);
    expect(outcome).toBe('scheduled');
    const state = await pod.state(`after=${generation}&waitMs=30000`);
    expect(state).toMatchObject({ applied: planIdOf(good), lastApply: refused });
    for (const mode of ['auto', 'reload'])
      expect(await applies.send(bad, { mode, expect: planIdOf(good) }), mode).toMatchObject(knownBad);
  });

  test('a last known good that HAProxy refused is not loaded again and again', async () => {
    const applies = await Applies.start(binary);
    const { pod } = applies;
    const port = await freePort();
    const other = createServer().listen(port, '127.0.0.1');
    onCleanup(() => void other.close());
    await once(other, 'listening');
    // Judged and never loaded.
    const validated = pod.site('validated', { extra: `bind 127.0.0.1:${port}` });
    const more = { mode: 'auto', validated: planIdOf(validated) };
    expect(await applies.send(validated, more)).toMatchObject({ outcome: 'file_only' });
    const last = pod.site('last');
    expect(await applies.send(last, { mode: 'auto' })).toMatchObject({ outcome: 'file_only' });
    expect(await applies.revert()).toMatchObject(refused);
    const again = await applies.revert();
    expect(again).toMatchObject(knownBad);
    expect(again.message).toContain('cannot bind socket');
    expect(await pod.tree()).toEqual(last);
    expect((await request(pod.port)).status).toBe(200);
  });
}, versionsOfOwnLogic);
