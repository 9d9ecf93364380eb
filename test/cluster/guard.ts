import { spawn, type ChildProcess } from 'node:child_process';

/**
 * Reads `process <pid>` and `folder <path>` lines; when its input ends, which it does however the writer dies, it kills the
 * processes and removes the folders. It has a session of its own, so nothing that is sent to the runner's group reaches it.
 */
const script = `
pids= ; folders=
while IFS=' ' read -r kind value; do
  case $kind in
    process) pids="$pids $value" ;;
    ended) pids=$(printf '%s\\n' $pids | grep -vx "$value") ;;
    folder) folders="$folders
$value" ;;
    done) exit 0 ;;
  esac
done
[ -z "$pids" ] || kill -KILL $pids 2>/dev/null
printf '%s\\n' "$folders" | while IFS= read -r folder; do
  [ -n "$folder" ] || continue
  # What a killed process was writing may still appear for a moment.
  for attempt in 1 2 3 4 5; do rm -rf -- "$folder" 2>/dev/null && break; sleep 0.2; done
done
`;

/** Ends what a runner started, also when the runner was killed. */
export class Guard {
  readonly #child: ChildProcess;

  constructor() {
    this.#child = spawn('sh', ['-c', script], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
    this.#child.stdin?.on('error', () => undefined);
    this.#child.unref();
  }

  process(pid: number): void {
    this.#tell(`process ${pid}`);
  }

  /** The number may be another process's from now on. */
  ended(pid: number): void {
    this.#tell(`ended ${pid}`);
  }

  folder(path: string): void {
    this.#tell(`folder ${path}`);
  }

  /** Everything has been ended already. */
  dismiss(): void {
    this.#tell('done');
    this.#child.stdin?.end();
  }

  #tell(line: string): void {
    this.#child.stdin?.write(`${line}\n`);
  }
}
