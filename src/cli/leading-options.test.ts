import { expect, it } from 'vitest';
import { optionsBehindVerb } from './leading-options.ts';

it.each([
  ['-n team get kubeconfig blue', 'get kubeconfig blue -n team'],
  ['--namespace=team --context x get clusters', 'get clusters --namespace=team --context x'],
  ['-n team apply -f a -- b', 'apply -f a -n team -- b'],
  ['get clusters -n team', 'get clusters -n team'],
  ['--help', '--help'],
  ['--version -n team', '--version -n team'],
  ['-n team', '-n team'],
  ['', ''],
])('%j is rearranged to %j', (given, expected) => {
  expect(optionsBehindVerb(given.split(' ')).join(' ')).toBe(expected);
});
