import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Rendered, Section } from '@haptic/core/contract';
import { filePatch } from './file-patch.ts';

interface Part {
  readonly name: string;
  readonly text: string;
}

/** A set with one file that consists of these sections. */
function setOf(path: string, parts: readonly Part[]): Rendered {
  const text = parts.map((part) => part.text).join('');
  const sections = parts.map((part) => ({
    kind: 'backend',
    name: part.name,
    digest: part.text,
    length: Buffer.byteLength(part.text),
  }));
  const file = { path, digest: text, size: Buffer.byteLength(text), kind: 'config', reloadOnChange: true };
  return {
    plan: { files: [file], sections: sections as unknown as Section[] },
    files: { read: () => Buffer.from(text) },
  } as unknown as Rendered;
}

function patched(base: string, patch: NonNullable<ReturnType<typeof filePatch>>): string {
  const bytes = Buffer.from(base);
  const parts = patch.parts.map((part) =>
    typeof part === 'string' ? Buffer.from(part, 'base64') : bytes.subarray(part[0], part[0] + part[1]),
  );
  return Buffer.concat(parts).toString();
}

const part = fc.record({
  name: fc.stringMatching(/^[a-c]$/),
  text: fc
    .tuple(fc.stringMatching(/^[xyé\n]{0,5}$/), fc.integer({ min: 0, max: 400 }))
    .map(([a, n]) => a.repeat(n)),
});

test.each(['haproxy.cfg', 'maps/m.map'])('whatever changes in %s, the patch makes the new bytes', (path) => {
  const sets = fc.array(part, { maxLength: 12 });
  fc.assert(
    fc.property(sets, sets, fc.array(fc.boolean(), { minLength: 12, maxLength: 12 }), (old, fresh, keep) => {
      const next = [...old.filter((_, index) => keep[index]), ...fresh];
      const [before, now] = [setOf(path, old), setOf(path, next)];
      const patch = filePatch(path, now, before);
      const text = (parts: readonly Part[]): string => parts.map((row) => row.text).join('');
      if (patch !== undefined) expect(patched(text(old), patch)).toBe(text(next));
    }),
    { numRuns: 200 },
  );
});

test('a section more among many is a small patch', () => {
  const parts = Array.from({ length: 1_000 }, (_, index) => ({
    name: `b${index}`,
    text: `backend b${index}\n`,
  }));
  const next = parts.toSpliced(500, 0, { name: 'new', text: 'backend new\n' });
  const patch = filePatch('haproxy.cfg', setOf('haproxy.cfg', next), setOf('haproxy.cfg', parts));
  expect(patch?.parts.length).toBe(3);
  expect(patch?.parts[1]).toBe(Buffer.from('backend new\n').toString('base64'));
});
