import { FunctionError } from '../errors.ts';
import { quoteGo } from '../syntax/index.ts';
import { kindOf, type Value, type ValueMap } from '../values/index.ts';
import { define, type Library, text } from './function.ts';

/** Sprig's URL functions, with Go's URL parser. */
export const urlFunctions: Library = {
  urlParse: define('string', ([url]) => parseUrl(text(url))),
  urlJoin: define('map[string]interface {}', ([parts]) => joinUrl(parts instanceof Map ? parts : new Map())),
};

function parseUrl(source: string): ValueMap {
  const refuse = (why: string): never => {
    throw new FunctionError(`unable to parse url: parse ${quoteGo(source)}: ${why}`);
  };
  if (/[\p{Cc}]/u.test(source)) refuse('net/url: invalid control character in URL');
  const [beforeFragment, fragment = ''] = cut(source, '#');
  if (beforeFragment.startsWith(':')) refuse('missing protocol scheme');
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(beforeFragment)?.[1] ?? '';
  const afterScheme = scheme === '' ? beforeFragment : beforeFragment.slice(scheme.length + 1);
  const [rest, query = ''] = cut(afterScheme, '?');
  let [opaque, host, userinfo, path] = ['', '', '', rest];
  if (!rest.startsWith('/')) {
    if (scheme !== '') {
      opaque = rest;
      path = '';
    } else if (/^[^/]*:/.test(rest)) refuse('first path segment in URL cannot contain colon');
  } else if (rest.startsWith('//') && (scheme !== '' || !rest.startsWith('///'))) {
    const end = rest.indexOf('/', 2);
    const authority = end < 0 ? rest.slice(2) : rest.slice(2, end);
    path = end < 0 ? '' : rest.slice(end);
    const at = authority.lastIndexOf('@');
    userinfo = at < 0 ? '' : authority.slice(0, at);
    host = authority.slice(at + 1);
    const port = /:([^:\]]*)$/.exec(host)?.[1];
    if (port !== undefined && !/^[0-9]*$/.test(port)) refuse(`invalid port ${quoteGo(`:${port}`)} after host`);
    const [invalid] = /[ "<>\\^`{|}]/.exec(host) ?? [];
    if (invalid !== undefined) refuse(`invalid character ${quoteGo(invalid)} in host name`);
  }
  const badEscape = /%(?![0-9a-fA-F]{2}).{0,2}/.exec(path);
  if (badEscape) refuse(`invalid URL escape ${quoteGo(badEscape[0])}`);
  const decode = (value: string): string => {
    try {
      return decodeURIComponent(value);
    } catch {
      return value;
    }
  };
  const bare = host.replace(/:[0-9]*$/, '');
  return new Map<string, Value>([
    ['scheme', scheme.toLowerCase()],
    ['host', host],
    ['hostname', bare.replace(/^\[(.*)\]$/, '$1')],
    ['path', decode(path)],
    ['query', query],
    ['opaque', opaque],
    ['fragment', decode(fragment)],
    ['userinfo', userinfo],
  ]);
}

function cut(value: string, separator: string): [string, string | undefined] {
  const at = value.indexOf(separator);
  return at < 0 ? [value, undefined] : [value.slice(0, at), value.slice(at + 1)];
}

function joinUrl(parts: ValueMap): string {
  const part = (key: string): string => {
    if (!parts.has(key)) return '';
    const value = parts.get(key);
    if (typeof value === 'string') return value;
    throw new FunctionError(`unable to parse ${key} key, must be of type string, but ${kindOf(value)} found`);
  };
  const escapePart = (value: string, safe: RegExp): string => {
    let result = '';
    for (const rune of value) result += safe.test(rune) ? rune : encodeURIComponent(rune);
    return result;
  };
  const [scheme, host, opaque, query, fragment, userinfo] = [
    'scheme',
    'host',
    'opaque',
    'query',
    'fragment',
    'userinfo',
  ].map(part) as [string, string, string, string, string, string];
  let path = part('path');
  let result = scheme === '' ? '' : `${scheme}:`;
  if (opaque !== '') result += opaque;
  else {
    if (scheme !== '' || host !== '' || userinfo !== '') {
      if (host !== '' || path !== '' || userinfo !== '') result += '//';
      if (userinfo !== '') result += `${userinfo}@`;
      result += host;
    }
    if (path !== '' && !path.startsWith('/') && host !== '') path = `/${path}`;
    result += escapePart(path, /[A-Za-z0-9\-_.~$&+,/:;=@!'()*]/);
  }
  if (query !== '') result += `?${query}`;
  return fragment === '' ? result : `${result}#${escapePart(fragment, /[A-Za-z0-9\-_.~$&+,/:;=?@!'()*]/)}`;
}
