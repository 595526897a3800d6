import { type ExtensionConfig, type ExtensionHandler, hooksApiVersion } from '../../../api/index.ts';
import { checkDns1123Label } from '../../../machinery/index.ts';
import { HookError } from '../../shared/index.ts';
import { hookNames, parseAnswer } from './answers.ts';
import type { ExtensionTransport } from './transport.ts';

export const defaultTimeoutSeconds = 10;
const maxTimeoutSeconds = 30;
/** maximum number of handlers in the status */
const maxHandlers = 512;

/** Discovers the handlers of an extension. Throws HookError. */
export async function discoverHandlers(
  transport: ExtensionTransport,
  { metadata, spec }: ExtensionConfig,
  signal: AbortSignal,
): Promise<ExtensionHandler[]> {
  const extension = metadata.name ?? '';
  const answer = await transport.post({
    extension,
    config: spec.clientConfig,
    path: `/${hooksApiVersion}/discovery`,
    timeoutMs: defaultTimeoutSeconds * 1000,
    body: { apiVersion: hooksApiVersion, kind: 'DiscoveryRequest' },
    signal,
  });
  const { handlers = [] } = parseAnswer('Discovery', answer);
  const problems: string[] = handlers.length > maxHandlers ? [`more than ${maxHandlers} handlers`] : [];
  const names = new Set<string>();
  const found: ExtensionHandler[] = [];
  for (const { name, requestHook, timeoutSeconds = defaultTimeoutSeconds, failurePolicy = 'Fail' } of handlers) {
    if (names.has(name)) problems.push(`duplicate name for handler ${name} found`);
    names.add(name);
    for (const problem of checkDns1123Label(name)) problems.push(`handler name ${name} is not valid: ${problem}`);
    if (!Number.isInteger(timeoutSeconds) || timeoutSeconds < 0 || timeoutSeconds > maxTimeoutSeconds) {
      problems.push(`handler ${name} timeoutSeconds ${timeoutSeconds} must be between 0 and ${maxTimeoutSeconds}`);
    }
    if (requestHook.apiVersion !== hooksApiVersion || !hookNames.has(requestHook.hook)) {
      problems.push(`handler ${name} requestHook ${requestHook.apiVersion}/${requestHook.hook} is not known`);
    }
    found.push({
      name: `${name}.${extension}`,
      requestHook,
      timeoutSeconds: timeoutSeconds === 0 ? defaultTimeoutSeconds : timeoutSeconds,
      failurePolicy,
    });
  }
  if (problems.length > 0) throw new HookError(`the answer to Discovery is not valid: ${problems.join('; ')}`);
  return found;
}
