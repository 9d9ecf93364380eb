import { readAnswer } from './answer.ts';
import { frame, MAX_BODY } from './peer.ts';
import { aboutFile, type Session } from './session.ts';

type Check = (session: Session) => Promise<void>;

/** What every request must lead to. */
export const answerChecks: Readonly<Record<string, Check>> = {
  'answers a request with exactly one frame and keeps the connection': async (session) => {
    using peer = await session.connect();
    await session.judge(peer);
    await peer.staysQuiet(session.options.quietMs);
  },

  'answers one request after the other on one connection': async (session) => {
    using peer = await session.connect();
    for (let request = 0; request < 3; request++) await session.judge(peer);
  },

  'says the same about the same file': async (session) => {
    using peer = await session.connect();
    const [first, second] = [await session.judge(peer), await session.judge(peer)];
    if (first.result !== second.result)
      throw new Error(`first it said "${first.result}", then "${second.result}"`);
  },

  'answers several connections at a time': async (session) => {
    const peers = await Promise.all(Array.from({ length: 4 }, () => session.connect()));
    try {
      await Promise.all(peers.map((peer) => session.judge(peer)));
      // While the others stay open and silent.
      await session.judge(peers[3]!);
    } finally {
      for (const peer of peers) peer[Symbol.dispose]();
    }
  },

  'takes a request in any number of pieces': async (session) => {
    using peer = await session.connect();
    const bytes = frame(session.request());
    const cuts = [0, 1, 4, 5, Math.floor(bytes.length / 2), bytes.length];
    for (const [index, cut] of cuts.slice(1).entries()) {
      peer.send(bytes.subarray(cuts[index], cut));
      await new Promise((sent) => setTimeout(sent, 5)); // so that they arrive one by one
    }
    aboutFile(session.options.file, readAnswer(await peer.frame()));
  },

  'takes files that ride along as data, and the folder that they are relative to': async (session) => {
    using peer = await session.connect();
    const { file } = session.options;
    const data = { path: 'maps/rider.map', content: 'key value\n', kind: 'data' };
    await session.judge(peer, file, { files: [file, data], staged_root: '/no-such-folder' });
  },

  'ignores fields that it does not know': async (session) => {
    using peer = await session.connect();
    const { file } = session.options;
    await session.judge(peer, file, { files: [{ ...file, unknown: [1] }], unknown: { a: null } });
  },

  'takes text in any script': async (session) => {
    using peer = await session.connect();
    await session.judge(peer, { ...session.options.file, content: 'żółw – 亀 🐢 "\\" \u0001\n' });
  },

  'takes a request of 8 MiB': async (session) => {
    using peer = await session.connect();
    const { file } = session.options;
    const rider = (content: string): object => ({
      files: [file, { path: 'maps/large.map', content, kind: 'data' }],
    });
    const room = MAX_BODY - Buffer.byteLength(session.request(file, rider('')));
    await session.judge(peer, file, rider('x'.repeat(room)));
  },
};

/** The results of files whose result is known. */
export function sampleChecks({ options: { samples = {} } }: Session): Readonly<Record<string, Check>> {
  const checks = Object.entries(samples).map(([result, file]): [string, Check] => [
    `says "${result}" about ${file.path}`,
    async (session) => {
      using peer = await session.connect();
      const answer = await session.judge(peer, file);
      if (answer.result !== result) throw new Error(`it said: ${JSON.stringify(answer)}`);
    },
  ]);
  return Object.fromEntries(checks);
}
