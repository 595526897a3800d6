import { errorMessage } from '../../../machinery/index.ts';
import { type LogFields, type Logger, redact } from '../../../runtime/index.ts';
import type { SimulatedProcess } from '../../process.ts';
import { klog } from '../klog.ts';

/** Writes log entries of our runtime to the log of a simulated program in klog format. */
export function klogger(process: SimulatedProcess, own: LogFields = {}): Logger {
  const say =
    (severity: 'I' | 'W' | 'E') =>
    (message: string, fields: LogFields = {}): void => {
      const facts = Object.entries(redact({ ...own, ...fields }))
        .map(([key, value]) => ` ${key}="${value instanceof Error ? errorMessage(value) : String(value)}"`)
        .join('');
      klog(process, severity, 'controller.go:1', `"${message}"${facts}`);
    };
  return {
    debug: () => {},
    info: say('I'),
    warn: say('W'),
    error: say('E'),
    with: (fields) => klogger(process, { ...own, ...fields }),
    isEnabled: (level) => level !== 'debug',
  };
}
