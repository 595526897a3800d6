import { describe, expect, it } from 'vitest';
import type { TransportResponse } from '../transport/types.ts';
import { errorFromResponse, type FailedRequest, misleadingAnswer, retryAfterOf } from './classify.ts';
import { errorFromFailure } from './network-failure.ts';
import { safeText, secretsIn, withoutLogin } from './redact.ts';

const request = (service: string, secrets: string[] = []): FailedRequest => ({
  service,
  method: 'POST',
  path: '/things',
  origin: 'https://cloud.test',
  secrets,
});

function answer(status: number, body: string | object, headers: Record<string, string> = {}): TransportResponse {
  const isText = typeof body === 'string';
  return {
    status,
    headers: { 'content-type': isText ? 'text/html; charset=UTF-8' : 'application/json', ...headers },
    body: new TextEncoder().encode(isText ? body : JSON.stringify(body)),
  };
}

const id = { 'x-openstack-request-id': 'req-42' };
const glancePage = (status: string, message: string): string =>
  `<html>\n <head>\n  <title>${status}</title>\n </head>\n <body>\n  <h1>${status}</h1>\n  ${message}<br /><br />\n\n\n\n </body>\n</html>`;

describe('the advice of an error', () => {
  it.each([
    [
      'compute',
      403,
      { forbidden: { message: 'Only volume-backed servers are allowed for flavors with zero disk.' } },
      'give the server a root volume, or use a flavor with a disk',
    ],
    [
      'compute',
      400,
      {
        badRequest: {
          message: "Flavor's disk is too small for requested image. Flavor disk is 1 bytes, image is 2 bytes.",
        },
      },
      'use a larger flavor, or a smaller image',
    ],
    [
      'compute',
      403,
      { forbidden: { message: 'It is not allowed to create an interface on external network 7a' } },
      'use a network of the project and a floating IP, or have the network shared with the project',
    ],
    [
      'load-balancer',
      403,
      { faultcode: 'Client', faultstring: 'Policy does not allow this request to be performed.', debuginfo: null },
      'give the user the role load-balancer_member (where the cloud asks for it), or use other credentials',
    ],
    [
      'compute',
      403,
      { forbidden: { message: "Policy doesn't allow os_compute_api:servers:create to be performed." } },
      'give the user a role that allows this, or use other credentials',
    ],
  ])('fits the error of %s %i %j', (service, status, body, cure) => {
    expect(errorFromResponse(request(service), answer(status, body, id), 0).cure).toBe(cure);
  });
});

describe('the message of the cloud', () => {
  it.each([
    [
      'keystone',
      'identity',
      404,
      { error: { code: 404, message: 'Could not find user: x.', title: 'Not Found' } },
      'notFound',
      'Could not find user: x.',
    ],
    [
      'nova',
      'compute',
      400,
      { badRequest: { code: 400, message: 'Invalid key_name provided.' } },
      'badRequest',
      'Invalid key_name provided.',
    ],
    [
      'neutron',
      'network',
      404,
      { NeutronError: { type: 'PortNotFound', message: 'Port x could not be found.', detail: '' } },
      'notFound',
      'Port x could not be found.',
    ],
    [
      'octavia',
      'load-balancer',
      400,
      { faultcode: 'Client', faultstring: 'Subnet x not found.', debuginfo: null },
      'badRequest',
      'Subnet x not found.',
    ],
    [
      'glance',
      'image',
      404,
      glancePage('404 Not Found', 'No image found with ID x'),
      'notFound',
      'No image found with ID x',
    ],
    [
      'glance asked for JSON',
      'image',
      403,
      { message: 'Image x is protected.<br /><br />\n', code: '403 Forbidden', title: 'Forbidden' },
      'forbidden',
      'Image x is protected.',
    ],
    [
      'placement',
      'placement',
      409,
      { errors: [{ status: 409, title: 'Conflict', detail: 'There was a conflict' }] },
      'conflict',
      'There was a conflict',
    ],
  ])('is read from %s', (_name, service, status, body, kind, detail) => {
    const error = errorFromResponse(request(service), answer(status, body, id), 0);
    expect(error).toMatchObject({ kind, detail, status, requestId: 'req-42', service });
    expect(error.message).toContain(`HTTP ${status}, req-42)`);
    expect(error.message).not.toContain('\n');
  });

  it('is replaced by a plain one when there is none', () => {
    const error = errorFromResponse(request('compute'), { ...answer(500, ''), headers: id }, 0);
    expect(error).toMatchObject({ kind: 'internal', detail: 'internal server error' });
  });
});

describe('the kind of an error', () => {
  it.each([
    [
      'compute',
      403,
      { forbidden: { message: 'Quota exceeded for instances: Requested 1, but already used 10 of 10 instances' } },
      'quota',
    ],
    [
      'compute',
      403,
      { forbidden: { message: "Policy doesn't allow os_compute_api:servers:create to be performed." } },
      'forbidden',
    ],
    [
      'network',
      409,
      { NeutronError: { type: 'OverQuota', message: "Quota exceeded for resources: ['port'].", detail: '' } },
      'quota',
    ],
    ['network', 409, { NeutronError: { type: 'SubnetInUse', message: 'in use', detail: '' } }, 'conflict'],
    [
      'volume',
      413,
      {
        overLimit: {
          code: 413,
          message: "VolumeLimitExceeded: Maximum number of volumes allowed (1) exceeded for quota 'volumes'.",
          retryAfter: '0',
        },
      },
      'quota',
    ],
    [
      'volume',
      413,
      {
        overLimit: {
          code: 413,
          message: 'VolumeSizeExceedsAvailableQuota: Requested volume or snapshot exceeds allowed gigabytes quota.',
          retryAfter: '0',
        },
      },
      'quota',
    ],
    [
      'volume',
      413,
      { overLimit: { code: 413, message: 'This request was rate-limited.', retryAfter: '5' } },
      'tooMany',
    ],
    [
      'load-balancer',
      403,
      { faultcode: 'Client', faultstring: 'Quota has been met for resources: Load Balancer', debuginfo: null },
      'quota',
    ],
    [
      'load-balancer',
      409,
      { faultcode: 'Client', faultstring: 'Load Balancer x is immutable and cannot be updated.', debuginfo: null },
      'immutable',
    ],
    [
      'load-balancer',
      409,
      { faultcode: 'Client', faultstring: 'Invalid state PENDING_CREATE of loadbalancer resource x', debuginfo: null },
      'immutable',
    ],
    [
      'load-balancer',
      409,
      { faultcode: 'Client', faultstring: 'This pool already has a health monitor', debuginfo: null },
      'conflict',
    ],
    ['load-balancer', 501, { faultcode: 'Server', faultstring: 'not supported', debuginfo: null }, 'unsupported'],
    [
      'network',
      412,
      { NeutronError: { type: 'RevisionNumberConstraintFailed', message: 'Constrained to 0', detail: '' } },
      'precondition',
    ],
    ['compute', 406, { computeFault: { message: 'Version 2.999 is not supported by the API.' } }, 'unsupported'],
    ['compute', 429, { overLimit: { message: 'slow down' } }, 'tooMany'],
    ['compute', 503, { serviceUnavailable: { message: 'later' } }, 'unavailable'],
  ])('%s %d %j is %s', (service, status, body, kind) => {
    expect(errorFromResponse(request(service), answer(status, body, id), 0).kind).toBe(kind);
  });
});

describe('answers that do not come from OpenStack', () => {
  it.each([
    ['a page with a good status', 200, '<!DOCTYPE html><html><head><title>Sign in</title></head></html>'],
    ['a page that refuses', 403, '<html><head><title>Access denied</title></head><body><h1>Blocked</h1></body></html>'],
    [
      "a web server's own page",
      404,
      '<html>\r\n<head><title>404 Not Found</title></head>\r\n<body>\r\n<center><h1>404 Not Found</h1></center>\r\n<hr></body></html>',
    ],
  ])('%s is not taken for OpenStack', (_name, status, page) => {
    const response = answer(status, page);
    const error =
      status < 400
        ? misleadingAnswer(request('identity'), response)
        : errorFromResponse(request('identity'), response, 0);
    expect(error?.kind).toBe('notOpenStack');
    expect(error?.message).toMatch(
      /^identity: https:\/\/cloud\.test answered with a web page.*; check auth_url, and HTTPS_PROXY/,
    );
  });

  it('treats the page of a gateway as an unavailable service', () => {
    const page =
      '<html><head><title>502 Bad Gateway</title></head><body><center><h1>502 Bad Gateway</h1></center></body></html>';
    expect(errorFromResponse(request('compute'), answer(502, page), 0).kind).toBe('unavailable');
  });

  it('treats the 404 page of an unknown path as an answer of the service', () => {
    const page =
      '<!doctype html>\n<html lang=en>\n<title>404 Not Found</title>\n<h1>Not Found</h1>\n<p>The requested URL was not found on the server.</p>';
    expect(errorFromResponse(request('identity'), answer(404, page), 0)).toMatchObject({
      kind: 'notFound',
      detail: 'not found',
    });
    expect(errorFromResponse(request('identity'), answer(404, page, id), 0)).toMatchObject({
      kind: 'notFound',
      detail: 'The requested URL was not found on the server.',
    });
  });

  it.each([
    ['plain text', 401, 'password=hunter2', 'text/plain'],
    [
      'a page with a status for a title',
      403,
      '<html><title>403 Forbidden</title><h1>403</h1>hunter2</html>',
      'text/html',
    ],
    ['an object of another API', 404, '{"kind":"Status","message":"hunter2","code":404}', 'application/json'],
    ['an object with an error', 400, '{"error":"hunter2"}', 'application/json'],
    ['an object in an object', 500, '{"result":{"message":"hunter2"}}', 'application/json'],
    ['a named fault among other things', 500, '{"badRequest":{"message":"hunter2"},"more":1}', 'application/json'],
    ['a list of errors without a status', 500, '{"errors":[{"detail":"hunter2"}]}', 'application/json'],
    ['a text', 500, '"hunter2"', 'application/json'],
    ['a page', 200, '<html><title>hunter2</title></html>', 'text/html'],
  ])('shows nothing of %s', (_name, status, body, type) => {
    const response = answer(status, body, { 'content-type': type });
    const error =
      status < 400
        ? misleadingAnswer(request('identity'), response)
        : errorFromResponse(request('identity'), response, 0);
    expect(error?.message).toContain(`HTTP ${status}`);
    expect(error?.message).not.toContain('hunter2');
  });

  it('removes characters that could move the cursor of a terminal', () => {
    const body = { badRequest: { code: 400, message: 'a\u001b[31mred\u0007 \u202eback' } };
    expect(errorFromResponse(request('compute'), answer(400, body), 0).detail).toBe('a [31mred back');
  });

  it('accepts an empty answer whatever its content type', () => {
    expect(misleadingAnswer(request('volume'), answer(202, ''))).toBeUndefined();
  });

  it('does not follow a redirect', () => {
    const message = (location: string): string | undefined =>
      misleadingAnswer(request('compute'), { ...answer(302, {}), headers: { location } })?.message;
    expect(message('https://elsewhere.test/a?token=x')).toContain('redirects to https://elsewhere.test (');
    expect(message('/v3/?token=x')).toContain('redirects to https://cloud.test/v3/ (');
  });
});

describe('secrets', () => {
  it('are found in bodies by name', () => {
    const body = {
      auth: {
        identity: {
          password: { user: { name: 'u', password: 'p4ss', domain: { id: 'default' } } },
          token: { id: 't0ken' },
        },
      },
      server: { user_data: 'dXNlcg==', adminPass: 'adm1n', name: 'open' },
      application_credential: { id: 'open', secret: 's3cret' },
    };
    expect(secretsIn(body).toSorted()).toEqual(['adm1n', 'dXNlcg==', 'p4ss', 's3cret', 't0ken']);
  });

  it('are removed from what the cloud repeats', () => {
    const message = "Invalid input for field/attribute user_data. Value: c2VjcmV0.\n'c2VjcmV0' is not a 'base64'";
    const body = { badRequest: { code: 400, message } };
    const error = errorFromResponse(request('compute', ['c2VjcmV0']), answer(400, body, id), 0);
    expect(error.message).not.toContain('c2VjcmV0');
    expect(error.detail).toContain("'[redacted]' is not a 'base64'");
  });

  it('are removed by attribute name even when quoted in another form', () => {
    expect(safeText('Invalid input for field/attribute adminPass. Value: \\u0068unter2. is too short', [])).toBe(
      'Invalid input for field/attribute adminPass. Value: [redacted]. is too short',
    );
  });

  it('are removed from URLs', () => {
    expect(withoutLogin('https://user:pass@host:5000/v3')).toBe('https://host:5000/v3');
    expect(withoutLogin('https://host/a@b')).toBe('https://host/a@b');
  });

  it('long messages are cut', () => {
    expect(safeText('x'.repeat(5000), []).length).toBeLessThan(700);
  });
});

describe('requests without an answer', () => {
  const failure = (code: string, extra: object = {}): Error =>
    Object.assign(new Error(`oops ${code}`), { code }, extra);

  it.each([
    ['ECONNREFUSED', 'network', true, /refuses connections/],
    ['ENOTFOUND', 'network', true, /cannot be found by name/],
    ['UND_ERR_CONNECT_TIMEOUT', 'network', true, /does not take connections in time/],
    ['ECONNRESET', 'network', false, /closed the connection/],
    ['UND_ERR_SOCKET', 'network', false, /closed the connection/],
    [
      'SELF_SIGNED_CERT_IN_CHAIN',
      'tls',
      true,
      /not trusted \[SELF_SIGNED_CERT_IN_CHAIN\].*; set cacert in clouds\.yaml/,
    ],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'tls', true, /not trusted/],
    ['CERT_HAS_EXPIRED', 'tls', true, /has expired/],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'tls', true, /another name/],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'tls', true, /does not speak TLS.*http:\/\//],
    ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'tls', true, /client certificate/],
    ['SOMETHING_ELSE', 'network', false, /did not answer: oops/],
  ])('are explained for %s', (code, kind, notSent, message) => {
    const error = errorFromFailure(request('compute'), failure(code));
    expect(error).toMatchObject({ kind, notSent });
    expect(error.message).toMatch(message);
  });

  it('look at the cause of wrapped failures', () => {
    const wrapped = new Error('fetch failed', { cause: failure('ECONNREFUSED') });
    expect(errorFromFailure(request('compute'), wrapped).notSent).toBe(true);
    const several = new AggregateError([failure('ECONNREFUSED'), failure('ECONNREFUSED')]);
    expect(errorFromFailure(request('compute'), several).notSent).toBe(true);
  });

  it('report a proxy that requires a password', () => {
    const error = errorFromFailure(request('identity'), new Error('Proxy response (407) !== 200 when HTTP Tunneling'));
    expect(error.message).toContain('the proxy did not connect');
    expect(error.message).toContain('HTTPS_PROXY');
  });
});

describe('Retry-After', () => {
  it.each([
    ['5', 5000],
    ['0', 0],
    ['-1', undefined],
    ['Thu, 01 Jan 1970 00:01:00 GMT', 50_000],
    ['soon', undefined],
    [undefined, undefined],
  ])('%s is read as %s ms', (value, ms) => {
    expect(retryAfterOf(value, 10_000)).toBe(ms);
  });
});
