import { readAnswer } from './answer.ts';
import { frame, MAX_BODY } from './peer.ts';
import { protocolError, type Session } from './session.ts';

type Check = (session: Session) => Promise<void>;

/** A request that cannot be judged is answered by an error of the protocol, and the connection goes on. */
function refuses(body: string, mustSay?: RegExp): Check {
  return async (session) => {
    using peer = await session.connect();
    const { message } = await session.provoke(peer, body);
    if (mustSay?.test(message) === false)
      throw new Error(`the message "${message}" does not match ${mustSay}`);
    await session.judge(peer);
  };
}

/** Still there once what happened before has had its effect. */
async function goesOn(session: Session): Promise<void> {
  using before = await session.connect();
  await session.judge(before);
  await before.staysQuiet(session.options.quietMs);
  using after = await session.connect();
  await session.judge(after);
}

/** What cannot be judged, and who breaks off. */
export const refusalChecks: Readonly<Record<string, Check>> = {
  'refuses a version that it does not know, and says the highest that it knows': refuses(
    '{"protocol_version":999,"files":[{"path":"a","content":""}]}',
    /1/,
  ),
  'refuses a request without files': refuses('{"protocol_version":1}'),
  'refuses an empty list of files': refuses('{"protocol_version":1,"files":[]}'),

  'refuses a body that is not JSON': async (session) => {
    using peer = await session.connect();
    await session.provoke(peer, 'files: []');
  },

  'refuses a body that is not UTF-8': async (session) => {
    using peer = await session.connect();
    const [head, tail] = session.request({ ...session.options.file, content: '%' }).split('%') as [
      string,
      string,
    ];
    await session.provoke(peer, Buffer.concat([Buffer.from(head), Buffer.of(0xc3, 0x28), Buffer.from(tail)]));
  },

  'refuses a frame larger than 8 MiB at its announcement, and closes': async (session) => {
    using peer = await session.connect();
    peer.send(frame('{', MAX_BODY + 1));
    protocolError(readAnswer(await peer.frame()));
    await peer.closed();
  },

  'goes on when a client leaves in the middle of a request': async (session) => {
    using leaver = await session.connect();
    leaver.send(frame(session.request()).subarray(0, 7));
    leaver[Symbol.dispose]();
    await goesOn(session);
  },

  'goes on when a client leaves without its answer': async (session) => {
    for (let client = 0; client < 5; client++) {
      using leaver = await session.connect();
      leaver.send(frame(session.request()));
    }
    await goesOn(session);
  },
};

/** Needs to know when the validator gives up. */
export const stallChecks: Readonly<Record<string, Check>> = {
  'says that a request timed out that stops halfway, and closes': async (session) => {
    using peer = await session.connect();
    peer.send(frame(session.request()).subarray(0, 9));
    protocolError(readAnswer(await peer.frame()));
    await peer.closed();
  },
};
