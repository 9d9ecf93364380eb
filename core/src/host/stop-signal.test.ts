import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { stopSignal } from './stop-signal.ts';

const script = `
  import { stopSignal } from ${JSON.stringify(new URL('stop-signal.ts', import.meta.url).href)};
  const stop = stopSignal();
  stop.signal.addEventListener('abort', () => console.log(stop.signal.reason.message));
  const end = setTimeout(() => process.exit(9), 20_000);
  if (process.argv[1] === 'polite') stop.signal.addEventListener('abort', () => clearTimeout(end));
  console.log('ready');
`;

function start(mode: 'polite' | 'deaf'): ChildProcess {
  return spawn(process.execPath, ['--conditions=source', '--input-type=module', '--eval', script, mode], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

async function line(child: ChildProcess): Promise<string> {
  const [text] = (await once(child.stdout!, 'data')) as [Buffer];
  return text.toString().trim();
}

describe('stopSignal', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    'aborts at the first %s and lets the process end in order',
    async (name) => {
      const child = start('polite');
      expect(await line(child)).toBe('ready');
      child.kill(name);
      expect(await line(child)).toBe(`stopped by ${name}`);
      const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
      expect([code, signal]).toEqual([0, null]);
    },
  );

  it('ends the process at once at the second signal', async () => {
    const child = start('deaf');
    await line(child);
    child.kill('SIGTERM');
    await line(child);
    child.kill('SIGINT');
    const [code] = (await once(child, 'exit')) as [number | null];
    expect(code).toBe(130);
  });

  it('stops listening when it is disposed', () => {
    const before = process.listenerCount('SIGTERM');
    {
      using _stop = stopSignal();
      expect(process.listenerCount('SIGTERM')).toBe(before + 1);
    }
    expect(process.listenerCount('SIGTERM')).toBe(before);
  });
});
