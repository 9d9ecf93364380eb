import { randomBytes } from 'node:crypto';
import { Refused } from '@haptic/core/contract';
import { expect, test } from 'vitest';
import { ConfigMapStore } from '../../../plugins/state-kube/src/config-map-store.ts';
import { currentMinor, forEachCluster } from '../../cluster/index.ts';

const MOST = 1024 * 1024;
/** Of a document that is stored as it is. */
const PLAIN = 64 * 1024;
/** As text it packs to about half, which is what counts. */
const packed = (): string => randomBytes(200_000).toString('hex');

forEachCluster(
  (cluster) => {
    test('a ConfigMap takes what we say it does to the last byte, and what is too much says what is', async () => {
      await using namespace = await cluster().namespace();
      const store = new ConfigMapStore({ api: cluster().api, namespace: namespace.name, name: 'state' });
      await store.write('one', packed());
      await store.write('two', packed());
      const refused = async (name: string, document: string): Promise<string> => {
        const error = await store.write(name, document).catch((reason: unknown) => reason);
        expect(error).toBeInstanceOf(Refused);
        return (error as Refused).message;
      };
      let count = 0;
      let words = '';
      while (words === '' && count < 20) {
        const name = `plain-${count++}`;
        words = await store.write(name, 'x'.repeat(PLAIN)).then(
          () => '',
          (error: Error) => error.message,
        );
      }
      expect(words).toMatch(/too large to be kept: \d+ bytes \((?:one|two) 2\d{5}, .*\), at most 1048576$/);
      const left = MOST - (Number(/: (\d+) bytes/.exec(words)![1]) - PLAIN);
      expect(await refused('last', 'x'.repeat(left + 1))).toContain(`: ${MOST + 1} bytes`);
      await store.write('last', 'x'.repeat(left));
      expect(await store.read('last')).toHaveLength(left);
      // What shrinks makes room.
      await store.write('one', 'small');
      await store.write('more', 'x'.repeat(PLAIN));
    });
  },
  [currentMinor],
);
