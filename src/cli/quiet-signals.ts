/**
 * Node 20 takes more than ten listeners on an AbortSignal for a leak. A signal that stops a whole program has one
 * listener per operation under way, which is what it is for; all other warnings are shown as ever.
 */
export function allowManyWaitersOnSignals(): void {
  const printers = process.listeners('warning');
  process.removeAllListeners('warning');
  process.on('warning', (warning) => {
    const { target } = warning as Error & { target?: unknown };
    if (warning.name === 'MaxListenersExceededWarning' && target instanceof AbortSignal) return;
    for (const print of printers) print(warning);
  });
}
