import { describe, expect, it } from 'vitest';
import { readArguments, readCluster, readDocuments, readInit, readJoin } from './documents.ts';
import { imageVersion, parseVersion, skewProblem } from './version.ts';

const version = (text: string) => parseVersion(text)!;
const init = (fields: string, format = 'v1beta4') =>
  `apiVersion: kubeadm.k8s.io/${format}\nkind: InitConfiguration\n${fields}`;
const joining = (discovery: string) =>
  readDocuments(`apiVersion: kubeadm.k8s.io/v1beta4\nkind: JoinConfiguration\ndiscovery:\n${discovery}`, undefined)
    .join!;

describe('kubeadm documents', () => {
  it.each([
    ['v1beta2', 'v1.21.0'],
    ['v1beta3', 'v1.22.0'],
    ['v1beta3', 'v1.34.0'],
    ['v1beta4', 'v1.31.0'],
  ])('of %s are read by kubeadm %s', (format, kubeadm) => {
    expect(readDocuments(init('', format), version(kubeadm)).init).toBeDefined();
  });

  it.each([
    ['v1beta1', 'v1.30.0', 'uses an old API spec: "kubeadm.k8s.io/v1beta1"'],
    ['v1beta2', 'v1.30.0', 'uses an old API spec: "kubeadm.k8s.io/v1beta2"'],
    ['v1beta4', 'v1.30.0', 'no kind "InitConfiguration" is registered'],
    ['v1beta9', 'v1.34.0', 'no kind "InitConfiguration" is registered'],
  ])('of %s are refused by kubeadm %s', (format, kubeadm, words) => {
    expect(() => readDocuments(init('', format), version(kubeadm))).toThrow(words);
  });

  it.each<[what: string, text: string, words: string]>([
    ['no kind', 'apiVersion: kubeadm.k8s.io/v1beta4\n', 'kind and apiVersion is mandatory'],
    ['a kind twice', `${init('')}\n---\n${init('')}`, 'is specified twice'],
    [
      'a list where a text belongs',
      init('nodeRegistration:\n  name: [a]\n'),
      'cannot unmarshal array into Go struct field InitConfiguration.nodeRegistration.name of type string',
    ],
    ['a map of arguments in v1beta4', init('nodeRegistration:\n  kubeletExtraArgs: {a: b}\n'), 'of type []v1beta4.Arg'],
    [
      'a list of arguments in v1beta3',
      init('nodeRegistration:\n  kubeletExtraArgs: [{name: a, value: b}]\n', 'v1beta3'),
      'of type map[string]string',
    ],
    ['a number where an object belongs', init('nodeRegistration: 5\n'), 'cannot unmarshal number'],
  ])('with %s are refused', (_what, text, words) => {
    expect(() => readDocuments(text, undefined)).toThrow(words);
  });

  it('with unknown fields give a warning', () => {
    const { warnings } = readDocuments(init('nodeRegistration:\n  color: red\n'), undefined);
    expect(warnings).toEqual([expect.stringContaining('unknown field "nodeRegistration.color"')]);
  });

  it('distinguish an empty list of taints from the usual taints', () => {
    expect(
      readInit(readDocuments(init('nodeRegistration:\n  taints: []\n'), undefined).init).nodeRegistration.taints,
    ).toEqual([]);
    expect(readInit(readDocuments(init(''), undefined).init).nodeRegistration.taints).toBeUndefined();
  });

  it.each<[what: string, discovery: string, words: string]>([
    ['nothing', '  tlsBootstrapToken: x\n', 'bootstrapToken or file must be set'],
    ['two ways', '  file: {kubeConfigPath: /a}\n  bootstrapToken: {token: a}\n', 'cannot both be set'],
    [
      'a token that is none',
      '  bootstrapToken: {token: short, apiServerEndpoint: "a:1"}\n',
      'the bootstrap token is invalid',
    ],
  ])('that discover by %s are refused', (_what, discovery, words) => {
    expect(() => readJoin(joining(discovery))).toThrow(words);
  });

  it('with an invalid range are refused', () => {
    const text = 'apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nnetworking: {podSubnet: nowhere}\n';
    expect(() => readCluster(readDocuments(text, undefined).cluster)).toThrow('invalid CIDR address: nowhere');
  });

  it('may contain arguments in both forms', () => {
    expect(readArguments({ b: '2', a: '1' })).toEqual([
      ['a', '1'],
      ['b', '2'],
    ]);
    expect(
      readArguments([
        { name: 'b', value: '2' },
        { name: 'a', value: '1' },
      ]),
    ).toEqual([
      ['b', '2'],
      ['a', '1'],
    ]);
  });
});

describe('versions', () => {
  const image = (name: string, properties: Record<string, string> = {}) => ({ name, properties }) as never;
  it.each([
    ['ubuntu-2204-kube-v1.33.1', 'v1.33.1'],
    ['flatcar-stable-1.32.4', 'v1.32.4'],
    ['ubuntu-22.04', undefined],
    ['rocky-9.1.20', undefined],
  ])('of the image %s are read from its name', (name, expected) => {
    expect(imageVersion(image(name))?.text).toBe(expected);
  });

  it('are taken from an image property before the name', () => {
    expect(imageVersion(image('kube-v1.30.0', { kubernetes_version: '1.31.2' }))?.text).toBe('v1.31.2');
  });

  it.each([
    ['v1.34.0', 'v1.33.9', true],
    ['v1.34.0', 'v1.34.0', true],
    ['v1.33.0', 'v1.34.0', true],
    ['v1.34.0', 'v1.32.9', false],
  ])('kubeadm %s works with a control plane %s: %s', (kubeadm, controlPlane, works) => {
    expect(skewProblem(version(kubeadm), version(controlPlane)) === undefined).toBe(works);
  });
});
