import { errorMessage } from '../../machinery/index.ts';

interface ConnectionError extends Error {
  code?: string;
  address?: string;
  port?: number;
  hostname?: string;
  /** set for certificates of another host */
  host?: string;
  cert?: { subjectaltname?: string };
  errors?: ConnectionError[];
}

const unverified = 'tls: failed to verify certificate: x509:';

/**
 * Describes why a webhook call failed, with kube-apiserver's messages. Installers recognize a webhook that is not yet
 * running by them.
 */
export function webhookFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return 'context deadline exceeded';
  const fault = error as ConnectionError;
  // All addresses of the name failed.
  const [first] = fault.errors ?? [];
  const { code, address, port, hostname, host, cert } = first ?? fault;
  const dial = (what: string): string => {
    // in-process connections have no address
    if (address === undefined) return `dial tcp: ${what}`;
    return `dial tcp ${address.includes(':') ? `[${address}]` : address}:${port}: ${what}`;
  };
  switch (code) {
    case 'ECONNREFUSED':
      return dial('connect: connection refused');
    case 'EHOSTUNREACH':
      return dial('connect: no route to host');
    case 'ENETUNREACH':
      return dial('connect: network is unreachable');
    case 'ETIMEDOUT':
      return dial('i/o timeout');
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `dial tcp: lookup ${hostname}: no such host`;
    case 'UND_ERR_SOCKET':
      return 'EOF';
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'UNABLE_TO_GET_ISSUER_CERT':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
      return `${unverified} certificate signed by unknown authority`;
    case 'CERT_HAS_EXPIRED':
    case 'CERT_NOT_YET_VALID':
      return `${unverified} certificate has expired or is not yet valid`;
    case 'ERR_TLS_CERT_ALTNAME_INVALID': {
      const names = cert?.subjectaltname?.replace(/(DNS|IP Address):/g, '') || 'no names';
      return `${unverified} certificate is valid for ${names}, not ${host}`;
    }
    default:
      return errorMessage(error);
  }
}
