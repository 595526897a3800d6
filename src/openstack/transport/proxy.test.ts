import { describe, expect, it } from 'vitest';
import { proxyFor } from './proxy.ts';

const env = { HTTPS_PROXY: 'http://secure:3128', http_proxy: 'plain:3128', NO_PROXY: 'none.test' };

describe('proxyFor', () => {
  it.each([
    ['https://cloud.test/', env, 'http://secure:3128'],
    ['http://cloud.test/', env, 'http://plain:3128'],
    ['https://none.test/', env, undefined],
    ['https://sub.none.test:5000/', env, undefined],
    ['https://notnone.test/', env, 'http://secure:3128'],
    ['https://127.0.0.1:5000/', env, undefined],
    ['https://[::1]:5000/', env, undefined],
    ['https://localhost/', env, undefined],
    ['https://cloud.test/', {}, undefined],
    ['https://cloud.test/', { ALL_PROXY: 'socks5://s:1080' }, 'socks5://s:1080'],
    ['https://cloud.test/', { HTTPS_PROXY: 'p:1', https_proxy: 'q:2' }, 'http://q:2'],
    ['https://10.1.2.3/', { HTTPS_PROXY: 'p:1', NO_PROXY: '10.0.0.0/8' }, undefined],
    ['https://11.1.2.3/', { HTTPS_PROXY: 'p:1', NO_PROXY: '10.0.0.0/8' }, 'http://p:1'],
    ['https://[fd00::1]/', { HTTPS_PROXY: 'p:1', NO_PROXY: 'fd00::/8' }, undefined],
    ['https://cloud.test:5000/', { HTTPS_PROXY: 'p:1', NO_PROXY: 'cloud.test:5000' }, undefined],
    ['https://cloud.test:5001/', { HTTPS_PROXY: 'p:1', NO_PROXY: 'cloud.test:5000' }, 'http://p:1'],
    ['https://cloud.test/', { HTTPS_PROXY: 'p:1', NO_PROXY: ' , *' }, undefined],
    ['https://a.cloud.test/', { HTTPS_PROXY: 'p:1', NO_PROXY: '.cloud.test' }, undefined],
    ['https://10.1.2.3/', { HTTPS_PROXY: 'p:1', NO_PROXY: '10.0.0.0/99' }, 'http://p:1'],
  ])('picks the proxy for %s with %j', (url, variables, proxy) => {
    expect(proxyFor(new URL(url), variables)).toBe(proxy);
  });
});
