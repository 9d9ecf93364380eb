import { MAIN_CONFIG } from '@haptic/core/contract';
import { FileTable } from '../files/file-table.ts';
import { digestOf, type Tree } from '../files/tree.ts';
import type { TreeStore } from '../files/tree-store.ts';
import type { Layout } from '../protocol/index.ts';

const TEXT_ID = 'bootstrap';

/** What HAProxy runs before the first plan: its sockets, and 503 for everybody. */
function bootstrapConfig(layout: Layout, binds: readonly string[]): string {
  const lines = [
    'global',
    `    stats socket ${layout.workerSocket} mode 600 level admin`,
    `    setenv HAPTIC_TEXT ${TEXT_ID}`,
    '',
    'frontend bootstrap',
    '    mode http',
    '    timeout client 10s',
    `    bind unix@${layout.bootstrapSocket} mode 600`,
    ...binds.map((address) => `    bind ${address}`),
    '    http-request return status 503 content-type text/plain string "no configuration yet\\n"',
    '',
  ];
  return lines.join('\n');
}

export function stageBootstrap(trees: TreeStore, layout: Layout, binds: readonly string[]): Tree {
  trees.collect([]);
  const content = Buffer.from(bootstrapConfig(layout, binds));
  const digest = digestOf(content);
  const file = {
    path: MAIN_CONFIG,
    digest,
    size: content.byteLength,
    kind: 'config',
    reloadOnChange: true,
  };
  return trees.stage({
    record: {
      planId: null,
      textId: TEXT_ID,
      binds: [...binds],
      files: FileTable.of([file]),
      needsLoad: false,
      touchesWorker: false,
      plan: [],
      restoreTo: null,
    },
    contents: new Map([[digest, content]]),
  });
}
