/**
 * Node 20 reports more than ten listeners on an AbortSignal as a leak. A signal for the whole program has one listener
 * per running operation, which is intended. All other warnings are still shown.
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
