import type { BootstrapFile } from '../../../api/index.ts';
import type { CertificateAndKey } from '../../../pki/index.ts';

const directory = '/etc/haproxy/certs';

/**
 * Behind an Ingress the API server is found by its name in the TLS handshake. Pods know it by an address: on every node a
 * proxy takes their connections, with a certificate they trust, and goes on by name.
 */
export function ingressFiles(authority: string, serving: CertificateAndKey): BootstrapFile[] {
  return [
    { path: `${directory}/ca.crt`, content: authority },
    { path: `${directory}/server.crt`, content: serving.certificate },
    { path: `${directory}/server.key`, permissions: '0600', content: serving.privateKey },
  ];
}

/** The proxy reads certificate and key from one file, as an unprivileged user. */
export const ingressCommands: readonly string[] = [
  `mkdir -p ${directory}`,
  `cat ${directory}/server.crt ${directory}/server.key > ${directory}/server.pem`,
  `chmod 644 ${directory}/server.pem`,
];
