import { X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../machinery/index.ts';
import { loadChart, renderChart } from '../template/index.ts';
import { ChartCertificates } from './chart-certificates.ts';

describe('ChartCertificates', () => {
  it('give charts authorities and certificates signed by them', () => {
    const template = `{{ $ca := genCA "chart-ca" 365 }}{{ $own := genSelfSignedCert "self" (list "10.0.0.1") (list "a.example.com") 30 }}
{{ $cert := genSignedCert "web" (list "10.0.0.2") (list "web.ns.svc") 30 $ca }}{{ $again := genSignedCertWithKey "web" nil nil 30 $ca $cert.Key }}
apiVersion: v1
kind: Secret
metadata: {name: x}
stringData:
  ca: {{ $ca.Cert | quote }}
  cert: {{ $cert.Cert | quote }}
  again: {{ $again.Cert | quote }}
  self: {{ $own.Cert | quote }}
  custom: {{ (buildCustomCert (b64enc $ca.Cert) (b64enc $ca.Key)).Cert | quote }}
  key: {{ genPrivateKey "ed25519" | quote }}
`;
    const chart = loadChart(
      new Map([
        ['Chart.yaml', Buffer.from('apiVersion: v2\nname: web\nversion: 1.0.0\n')],
        ['templates/x.yaml', Buffer.from(template)],
      ]),
    );
    if (!chart.ok) throw chart.error;
    const options = { chart: chart.value, release: { name: 'r', namespace: 'n' } };
    const rendered = renderChart({ ...options, certificates: new ChartCertificates(systemClock) });
    if (!rendered.ok) throw rendered.error;
    const data = rendered.value.objects[0]?.object['stringData'] as Record<string, string>;
    const [ca, cert, again, own] = ['ca', 'cert', 'again', 'self'].map((name) => new X509Certificate(data[name]!)) as [
      X509Certificate,
      X509Certificate,
      X509Certificate,
      X509Certificate,
    ];
    expect(ca.ca).toBe(true);
    expect(ca.subject).toBe('CN=chart-ca');
    expect(cert.verify(ca.publicKey)).toBe(true);
    expect(cert.checkHost('web.ns.svc')).toBe('web.ns.svc');
    expect(cert.checkIP('10.0.0.2')).toBe('10.0.0.2');
    expect(again.publicKey.equals(cert.publicKey)).toBe(true);
    expect(own.verify(own.publicKey)).toBe(true);
    expect(own.ca).toBe(false);
    expect(data['custom']).toBe(data['ca']);
    expect(data['key']).toContain('PRIVATE KEY');
    const without = renderChart(options);
    expect(without.ok ? '' : without.error.message).toContain('genCA is not available here');
  });

  it('report an invalid key as an error of the template', () => {
    const chart = loadChart(
      new Map([
        ['Chart.yaml', Buffer.from('apiVersion: v2\nname: web\nversion: 1.0.0\n')],
        ['templates/x.yaml', Buffer.from('{{ genCAWithKey "x" 1 "no key" }}')],
      ]),
    );
    if (!chart.ok) throw chart.error;
    const certificates = new ChartCertificates(systemClock);
    const rendered = renderChart({ chart: chart.value, release: { name: 'r', namespace: 'n' }, certificates });
    expect(rendered.ok ? '' : rendered.error.message).toMatch(
      /^template: web\/templates\/x\.yaml:1:3: .*error calling genCAWithKey: the key or certificate cannot be used$/,
    );
  });
});
