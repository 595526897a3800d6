import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const script = `
import { EventEmitter } from 'node:events';
import { allowManyWaitersOnSignals } from ${JSON.stringify(new URL('./quiet-signals.ts', import.meta.url).href)};
allowManyWaitersOnSignals();
const { signal } = new AbortController();
const emitter = new EventEmitter();
for (let i = 0; i < 12; i++) {
  signal.addEventListener('abort', () => {});
  emitter.on('x', () => {});
}
`;

it('many listeners on an AbortSignal cause no warning, while other leaks still do', async () => {
  const { stderr } = await promisify(execFile)(
    process.execPath,
    ['--import', 'tsx', '--input-type=module', '-e', script],
    { cwd: fileURLToPath(new URL('../../', import.meta.url)) },
  );
  expect(stderr).not.toContain('AbortSignal');
  expect(stderr).toMatch(/MaxListenersExceededWarning: .*EventEmitter/);
});
