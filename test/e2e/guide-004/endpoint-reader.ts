import { request } from 'node:https';
import { connect } from 'node:tls';
import { systemClock } from '../../../src/machinery/index.ts';
import { createAuthority, createCsr, issueCertificate } from '../../../src/pki/index.ts';

const organization = 'lattice.dev:agents';

interface Answer {
  readonly code: number;
  readonly text: string;
}

/** A client on the network of a parent, with or without a token. */
export class EndpointReader {
  readonly #endpoints: { readonly bootstrap: string; readonly agents: string };
  readonly #authority: string;

  constructor(endpoints: { readonly bootstrap: string; readonly agents: string }, authority: string) {
    this.#endpoints = endpoints;
    this.#authority = authority;
  }

  manifests(cluster: string, token: string): Promise<Answer> {
    return this.#ask('GET', `/api/clusters/${cluster}/manifests`, token);
  }

  async certificate(cluster: string, token: string): Promise<Answer> {
    const { csr } = await createCsr({ commonName: cluster, organizations: [organization] });
    return await this.#ask('POST', `/api/clusters/${cluster}/csr`, token, csr);
  }

  async foreignCertificate(cluster: string): Promise<{ cert: string; key: string }> {
    const authority = await createAuthority({ commonName: 'lattice-cell-ca', clock: systemClock });
    const { certificate, privateKey } = await issueCertificate({
      authority,
      commonName: cluster,
      organizations: [organization],
      usages: ['client'],
      clock: systemClock,
    });
    return { cert: certificate, key: privateKey };
  }

  /** Reports whether the parent accepts a client certificate. */
  isLetIn(shown: { cert: string; key: string }): Promise<boolean> {
    const [host = '', port = ''] = this.#endpoints.agents.split(':');
    return new Promise((resolve) => {
      const socket = connect({
        host,
        port: Number(port),
        ca: this.#authority,
        ...shown,
        ALPNProtocols: ['lattice-agent/1'],
      });
      socket.once('data', () => {
        socket.destroy();
        resolve(true);
      });
      socket.once('error', () => resolve(false)).once('close', () => resolve(false));
    });
  }

  #ask(method: string, path: string, token: string, body?: string): Promise<Answer> {
    const [host = '', port = ''] = this.#endpoints.bootstrap.split(':');
    const headers = { authorization: `Bearer ${token}`, connection: 'close' };
    return new Promise((resolve, reject) => {
      const asked = request({ host, port, path, method, ca: this.#authority, headers }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (part: string) => {
          text += part;
        });
        response.on('end', () => resolve({ code: response.statusCode ?? 0, text }));
      });
      asked.on('error', reject);
      asked.end(body);
    });
  }
}
