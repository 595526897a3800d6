import { errorMessage } from '../../machinery/index.ts';
import type { FailedRequest } from './classify.ts';
import { OpenStackError, type OpenStackErrorKind } from './openstack-error.ts';
import { safeText } from './redact.ts';

interface Diagnosis {
  codes: RegExp;
  kind: OpenStackErrorKind;
  /** completes `HOST …` */
  says: string;
  cure: string;
  /** the request cannot have reached the service */
  notSent: boolean;
}

/** Error codes of Node, OpenSSL and undici. The first match wins. */
const diagnoses: readonly Diagnosis[] = [
  {
    codes: /^CAP_PEER_REFUSED$/,
    kind: 'notOpenStack',
    says: 'must not be connected to from here',
    cure: 'use another address in auth_url or the service catalogue, or ask the operator to allow it (--allow-peers)',
    notSent: true,
  },
  {
    codes: /^CAP_ANSWER_TOO_LARGE$/,
    kind: 'unexpected',
    says: 'answered with more than is taken at once',
    cure: 'check that it is an OpenStack service, and that lists come in pages',
    notSent: false,
  },
  {
    codes: /^CERT_HAS_EXPIRED$/,
    kind: 'tls',
    says: 'has a TLS certificate that has expired',
    cure: 'have it renewed, or check the clock of this machine',
    notSent: true,
  },
  {
    codes: /SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)|CERT_UNTRUSTED|INVALID_CA|CERT_SIGNATURE_FAILURE/,
    kind: 'tls',
    says: 'has a TLS certificate that is not trusted',
    cure: 'set cacert in clouds.yaml to the certificate authority of the cloud (or verify: false to trust anybody)',
    notSent: true,
  },
  {
    codes: /ALTNAME_INVALID|HOSTNAME_MISMATCH/,
    kind: 'tls',
    says: 'has a TLS certificate for another name',
    cure: 'use the name in the certificate, in auth_url and in the service catalogue',
    notSent: true,
  },
  {
    codes: /WRONG_VERSION_NUMBER|HTTP_REQUEST|PACKET_LENGTH/,
    kind: 'tls',
    says: 'does not speak TLS',
    cure: 'check whether the URL should begin with http:// instead of https://',
    notSent: true,
  },
  {
    codes: /CERTIFICATE_REQUIRED|BAD_CERTIFICATE|HANDSHAKE_FAILURE|ALERT/,
    kind: 'tls',
    says: 'refused the TLS handshake',
    cure: 'check cert and key in clouds.yaml if the cloud asks for a client certificate',
    notSent: true,
  },
  {
    codes: /^(ERR_SSL|ERR_TLS|ERR_OSSL|EPROTO)/,
    kind: 'tls',
    says: 'could not agree on TLS',
    cure: 'check cacert, cert and key in clouds.yaml',
    notSent: true,
  },
  {
    codes: /^ECONNREFUSED$/,
    kind: 'network',
    says: 'refuses connections',
    cure: 'check the address and port, and whether the service runs',
    notSent: true,
  },
  {
    codes: /^(ENOTFOUND|EAI_AGAIN|EAI_FAIL|ENODATA)$/,
    kind: 'network',
    says: 'cannot be found by name',
    cure: 'check the host name and DNS',
    notSent: true,
  },
  {
    codes: /^(EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ENETDOWN|EADDRNOTAVAIL)$/,
    kind: 'network',
    says: 'cannot be reached',
    cure: 'check the network, VPN and firewall',
    notSent: true,
  },
  {
    codes: /^(UND_ERR_CONNECT_TIMEOUT|ETIMEDOUT)$/,
    kind: 'network',
    says: 'does not take connections in time',
    cure: 'check the network, VPN and firewall',
    notSent: true,
  },
  {
    codes: /^(ECONNRESET|EPIPE|UND_ERR_SOCKET|ECONNABORTED|HPE_.*|UND_ERR_RES_CONTENT_LENGTH_MISMATCH)$/,
    kind: 'network',
    says: 'closed the connection before it answered',
    cure: 'try again; if it continues, check gateways in between',
    notSent: false,
  },
];

/** Converts a failed connection or missing response to an error with its cause. */
export function errorFromFailure(request: FailedRequest, error: unknown): OpenStackError {
  const code = codeOf(error);
  const proxy = proxyRefusal(error);
  const diagnosis = diagnoses.find(({ codes }) => codes.test(code));
  const facts = { service: request.service, method: request.method, path: request.path, cause: error };
  if (proxy !== undefined) {
    return new OpenStackError({
      ...facts,
      kind: 'network',
      detail: `the proxy did not connect to ${request.origin}: ${proxy}`,
      cure: 'check HTTPS_PROXY (with user and password if the proxy wants them), or list the host in NO_PROXY',
      notSent: true,
    });
  }
  if (!diagnosis) {
    return new OpenStackError({
      ...facts,
      kind: 'network',
      detail: `${request.origin} did not answer: ${safeText(errorMessage(error) || code, request.secrets)}`,
      cure: 'check the address and the network',
    });
  }
  return new OpenStackError({
    ...facts,
    kind: diagnosis.kind,
    detail: `${request.origin} ${diagnosis.says}${code === '' ? '' : ` [${code}]`}`,
    cure: diagnosis.cure,
    notSent: diagnosis.notSent,
  });
}

export function timeoutError(request: FailedRequest, timeoutMs: number): OpenStackError {
  return new OpenStackError({
    kind: 'timeout',
    service: request.service,
    detail: `${request.origin} did not answer within ${timeoutMs / 1000} s`,
    cure: 'check whether the service is overloaded, or raise api_timeout in clouds.yaml',
    method: request.method,
    path: request.path,
  });
}

/** Code of an error or of its cause. undici wraps errors, and Node tries several addresses. */
function codeOf(error: unknown): string {
  let current: unknown = error;
  for (let depth = 0; depth < 5 && typeof current === 'object' && current !== null; depth++) {
    const { code, cause, errors } = current as { code?: unknown; cause?: unknown; errors?: unknown };
    if (typeof code === 'string' && code !== 'ABORT_ERR') {
      if (code !== 'UND_ERR_SOCKET' || cause === undefined) return code;
      const inner = codeOf(cause);
      return inner === '' ? code : inner;
    }
    current = cause ?? (Array.isArray(errors) ? errors[0] : undefined);
  }
  return '';
}

function proxyRefusal(error: unknown): string | undefined {
  const text = errorMessage(error);
  const status = /Proxy response \((\d+)\)/.exec(text)?.[1];
  if (status === undefined) return undefined;
  return status === '407' ? 'it requires authentication (HTTP 407)' : `HTTP ${status}`;
}
