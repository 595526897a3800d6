// The DNS of a management cluster with a Gateway: names below the hostnames of its listeners lead to its address. Programs of tests on a real
// Kubernetes are started with it, as administrators of one have such records. CAPSTAN_E2E_GATEWAYS_OF names the kubeconfig to ask.
import { execFile } from 'node:child_process';
import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';

const kubeconfig = process.env.CAPSTAN_E2E_GATEWAYS_OF ?? '';
const usual = dns.lookup;

/** The address of the Gateway with a listener for the host; undefined: none has one. */
function addressOf(host, then) {
  const path = '{range .items[*]}{.status.addresses[0].value} {.spec.listeners[*].hostname}{"\\n"}{end}';
  const args = ['--kubeconfig', kubeconfig, 'get', 'gateways', '-A', '-o', `jsonpath=${path}`];
  execFile('kubectl', args, (_error, stdout) => {
    const line = stdout.split('\n').find((text) =>
      text
        .split(' ')
        .slice(1)
        .some((name) => name.startsWith('*.') && host.endsWith(name.slice(1))),
    );
    then(line?.split(' ')[0] || undefined);
  });
}

dns.lookup = (host, options, callback) => {
  const [settings, done] = typeof options === 'function' ? [{}, options] : [options ?? {}, callback];
  if (!String(host).endsWith('.localhost')) return usual(host, settings, done);
  addressOf(host, (address) => {
    if (address === undefined) usual(host, settings, done);
    else if (typeof settings === 'object' && settings.all) done(null, [{ address, family: 4 }]);
    else done(null, address, 4);
  });
};
syncBuiltinESMExports();
