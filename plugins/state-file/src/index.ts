import { join } from 'node:path';
import { definePlugin, KEPT_FOLDER, STATE_STORE } from '@haptic/core/contract';
import { z } from 'zod';
import { FileStateStore } from './file-state-store.ts';

/** Keeps the controller's documents as files. Without a folder it keeps nothing, and they live as long as the process. */
export default definePlugin({
  name: 'state-file',
  apiVersion: 1,
  options: z.strictObject({
    /** Private to one controller. Absent: below the folder that the HAProxy pod of this machine keeps, where there is one. */
    folder: z.string().startsWith('/', 'expected an absolute path').optional(),
  }),
  setup({ provide, tryUse, health, onDispose }, { folder }) {
    const kept = tryUse(KEPT_FOLDER);
    const chosen = folder ?? (kept === undefined ? undefined : join(kept, 'controller'));
    if (chosen === undefined) return;
    const store = new FileStateStore(chosen);
    provide(STATE_STORE, store);
    health('state', () => store.problem);
    onDispose(() => store.idle());
  },
});
