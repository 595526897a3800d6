import { CapstanError } from '../../machinery/index.ts';

export type KubeconfigErrorCode =
  | 'CAP_KUBECONFIG_NOT_FOUND'
  | 'CAP_KUBECONFIG_UNREADABLE'
  | 'CAP_KUBECONFIG_INVALID'
  | 'CAP_KUBECONFIG_CONTEXT'
  | 'CAP_KUBECONFIG_ENTRY'
  | 'CAP_KUBECONFIG_EXEC'
  | 'CAP_KUBECONFIG_LOCKED'
  | 'CAP_KUBECONFIG_WRITE';

/** Every failure of kubeconfig handling says which file, which entry, and what to do. */
export function kubeconfigError(
  code: KubeconfigErrorCode,
  message: string,
  hint: string,
  cause?: unknown,
): CapstanError {
  return new CapstanError(code, message, { hint, ...(cause !== undefined && { cause }) });
}

/** The system's short code of a file failure (ENOENT, EACCES, …). */
export function errnoOf(error: unknown): string | undefined {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : undefined;
}
