import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { renderTemplates } from '@haptic/core/testing';
import { freePort } from '../haproxy/free-port.ts';
import { request } from '../haproxy/raw-request.ts';
import { startHaproxy } from '../haproxy/start-haproxy.ts';
import { tempDir } from '../haproxy/temp-dir.ts';
import { forEachVersion } from '../haproxy/versions.ts';
import { hostileValues, isSoak, seed } from './hostile-values.ts';

const VALUES = isSoak ? 3_000 : 60;

/** Each value as text of a log-format and as argument of an expression, in every kind of quotes; `@` is the output's content. */
const places: readonly string[] = [
  '{{ value }}',
  '"{{ value }}"',
  "'{{ value }}'",
  '%[str({{ value | arg }})]',
  '"%[str({{ value | arg }})]"',
  "'%[str({{ value | arg }})]'",
  `'%[str("{{ value | arg }}")]'`,
  '%[str(\\"{{ value | arg }}\\")]',
];

const rules = places.map(
  (place, i) =>
    `    http-request return status 200 content-type text/plain lf-string ${place} if { path -m str -- /{{ id }}/${i} } { str({{ value | arg }}) -m str -- {{ value }} }`,
);
const body = `frontend f
    mode http
    timeout client 10s
    bind 127.0.0.1:{{ data.port }}
{% for id, value in data.values %}
${rules.join('\n')}
{% endfor %}
    http-request return status 404`;

describe(`seed ${seed}`, () => {
  forEachVersion(({ binary }) => {
    test(`${VALUES} values are served byte for byte`, async () => {
      const values = hostileValues(VALUES, seed)
        .map((value) => value.slice(0, 1_000).toWellFormed())
        // Refused as a pattern of an anonymous ACL, which it would end.
        .filter((value) => value !== '}');
      const dir = await tempDir();
      const port = await freePort();
      const { pieces } = await renderTemplates({ body, data: { values, port } });
      const [piece] = pieces;
      if (piece?.kind !== 'section') throw new Error('no section was rendered');
      await writeFile(join(dir, 'haproxy.cfg'), piece.text);
      const haproxy = await startHaproxy({ binary, dir, mode: 'plain', ports: [port] });
      for (const [id, value] of values.entries()) {
        for (const i of places.keys()) {
          const { status, body: served } = await request(port, { path: `/${id}/${i}` });
          expect([status, served.toString(), places[i]]).toEqual([200, value, places[i]]);
        }
      }
      await haproxy.stop();
    });
  });
});
