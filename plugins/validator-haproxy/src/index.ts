import { API_VERSION, definePlugin, JUDGE_BINARY, type PluginContext } from '@haptic/core/contract';
import { findBinary } from './binary.ts';
import { Judge } from './judge.ts';
import { options } from './options.ts';
import { HaproxyProbe } from './probe/haproxy-probe.ts';
import { removeAbandoned } from './work-folder.ts';

/** Without HAProxy there is no version, nothing to send requests to, and no verdict. */
function judgeNothing({ name, hooks, log }: PluginContext, reason: string): void {
  log.warn({}, reason);
  hooks.validate.tap(name, (_candidate, findings) => findings.unanswered(name, reason));
}

/** The judge of kind `haproxy`: every file set is given to `haproxy -c`, every time. */
export default definePlugin({
  name: 'validator-haproxy',
  apiVersion: API_VERSION,
  judge: 'haproxy',
  options,
  async setup(context, { binary: wanted, optional, ...limits }) {
    const binary = await findBinary(wanted).catch((error: Error) => {
      if (optional) return error;
      throw error;
    });
    if (binary instanceof Error) return judgeNothing(context, binary.message);
    const judge = new Judge({ binary, ...limits });
    context.onDispose(() => judge.dispose());
    const version = await judge.version();
    const abandoned = await removeAbandoned();
    context.log.info({ binary, version, abandoned }, 'checks configurations with haproxy -c');
    const probe = new HaproxyProbe({ binary, maxOutput: limits.maxOutput });
    context.onDispose(() => probe.dispose());
    context.provide(JUDGE_BINARY, { version: () => judge.version(), probe });
    // A check may wait for its turn for as long as another one may run.
    const deadlineMs = 2 * limits.timeout + 5000;
    context.hooks.validate.tapPromise(
      { name: context.name, deadlineMs },
      async ({ rendered }, findings, { signal, background }) => {
        for (const finding of await judge.judge(rendered, signal, background)) findings.add(finding);
      },
    );
  },
});
