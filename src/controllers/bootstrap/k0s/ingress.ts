import type { BootstrapFile } from '../../../api/index.ts';
import type { CertificateAndKey } from '../../../pki/index.ts';

const directory = '/etc/haproxy/certs';

/**
 * Files of the node proxies for an API server behind an Ingress. The Ingress routes by the server name of the TLS
 * handshake, but pods connect to an IP address. A proxy on every node terminates their connections with a trusted
 * certificate and connects on by name.
 */
export function ingressFiles(authority: string, serving: CertificateAndKey): BootstrapFile[] {
  return [
    { path: `${directory}/ca.crt`, content: authority },
    { path: `${directory}/server.crt`, content: serving.certificate },
    { path: `${directory}/server.key`, permissions: '0600', content: serving.privateKey },
  ];
}

/** HAProxy reads certificate and key from one file, as an unprivileged user. */
export const ingressCommands: readonly string[] = [
  `mkdir -p ${directory}`,
  `cat ${directory}/server.crt ${directory}/server.key > ${directory}/server.pem`,
  `chmod 644 ${directory}/server.pem`,
];
