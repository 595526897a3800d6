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

/** Builds an error that names the file, the entry and a suggested fix. */
export function kubeconfigError(
  code: KubeconfigErrorCode,
  message: string,
  hint: string,
  cause?: unknown,
): CapstanError {
  return new CapstanError(code, message, { hint, ...(cause !== undefined && { cause }) });
}

/** Returns the error code of a file operation (ENOENT, EACCES, …). */
export function errnoOf(error: unknown): string | undefined {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : undefined;
}
