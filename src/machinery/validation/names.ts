// Name validation. Every check returns a list of errors with kube-apiserver's texts, empty if valid. An absent value is
// checked as an empty one, which is how Go decodes it.

const dns1123LabelFormat = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const dns1123SubdomainFormat = `${dns1123LabelFormat}(\\.${dns1123LabelFormat})*`;
const dns1035LabelFormat = '[a-z]([-a-z0-9]*[a-z0-9])?';
const qualifiedNameFormat = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const labelValueFormat = `(${qualifiedNameFormat})?`;
const wildcardFormat = `\\*\\.${dns1123SubdomainFormat}`;
const cIdentifierFormat = '[A-Za-z_][A-Za-z0-9_]*';
const envVarNameFormat = '[-._a-zA-Z][-._a-zA-Z0-9]*';
const configMapKeyFormat = '[-._a-zA-Z0-9]+';
const httpHeaderFormat = '[-A-Za-z0-9]+';
const httpPathFormat = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";

const whole = (format: string): RegExp => new RegExp(`^${format}$`);
const dns1123Label = whole(dns1123LabelFormat);
const dns1123Subdomain = whole(dns1123SubdomainFormat);
const dns1035Label = whole(dns1035LabelFormat);
const qualifiedName = whole(qualifiedNameFormat);
const labelValue = whole(labelValueFormat);
const wildcardSubdomain = whole(wildcardFormat);
const cIdentifier = whole(cIdentifierFormat);
const configMapKey = whole(configMapKeyFormat);
const httpHeader = whole(httpHeaderFormat);
const httpPath = whole(httpPathFormat);
const envVarName = whole(envVarNameFormat);
const printableExceptEquals = /^[\x20-\x3c\x3e-\x7e]*$/;
const portNameCharacters = /^[-a-z0-9]+$/;
const oneLetter = /[a-z]/;

const nonEmptyText = 'must be non-empty';

/** "must be no more than N characters" */
export function maxLengthText(length: number): string {
  return `must be no more than ${length} characters`;
}

/** Explains a pattern with its meaning, examples and expression. */
export function patternText(meaning: string, format: string, ...examples: string[]): string {
  if (examples.length === 0) return `${meaning} (regex used for validation is '${format}')`;
  const shown = examples.map((example) => `'${example}', `).join(' or ');
  return `${meaning} (e.g. ${shown}regex used for validation is '${format}')`;
}

function check(value: string, pattern: RegExp, maxLength: number, explain: () => string): string[] {
  if (value.length <= maxLength && pattern.test(value)) return [];
  const problems: string[] = [];
  if (value.length > maxLength) problems.push(maxLengthText(maxLength));
  if (!pattern.test(value)) problems.push(explain());
  return problems;
}

const explainSubdomain = (): string =>
  patternText(
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
    dns1123SubdomainFormat,
    'example.com',
  );

/** Most names: lower case words joined by dots, at most 253 characters. */
export function checkDns1123Subdomain(value = ''): string[] {
  return check(value, dns1123Subdomain, 253, explainSubdomain);
}

/** Names of namespaces, containers, ports: one lower case word of at most 63 characters. */
export function checkDns1123Label(value = ''): string[] {
  return check(value, dns1123Label, 63, () =>
    dns1123Subdomain.test(value)
      ? 'must not contain dots'
      : patternText(
          "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
          dns1123LabelFormat,
          'my-name',
          '123-abc',
        ),
  );
}

/** Names of services: like a label, but starting with a letter. */
export function checkDns1035Label(value = ''): string[] {
  return check(value, dns1035Label, 63, () =>
    patternText(
      "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
      dns1035LabelFormat,
      'my-name',
      'abc-123',
    ),
  );
}

export function checkWildcardDns1123Subdomain(value = ''): string[] {
  return check(value, wildcardSubdomain, 253, () =>
    patternText(
      "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
      wildcardFormat,
      '*.example.com',
    ),
  );
}

const explainQualifiedName = (): string =>
  patternText(
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
    qualifiedNameFormat,
    'MyName',
    'my.name',
    '123-abc',
  );

/** Nearly all objects use the same few keys, so valid ones are cached. */
const goodQualifiedNames = new Set<string>();
const maxGoodQualifiedNames = 10_000;

/** Keys of labels, annotations, finalizers and taints: `[dns-prefix/]name`. */
export function checkQualifiedName(value = ''): string[] {
  if (goodQualifiedNames.has(value)) return [];
  const problems = problemsOfQualifiedName(value);
  if (problems.length === 0 && goodQualifiedNames.size < maxGoodQualifiedNames) goodQualifiedNames.add(value);
  return problems;
}

function problemsOfQualifiedName(value: string): string[] {
  const slash = value.indexOf('/');
  const problems: string[] = [];
  let name = value;
  if (slash >= 0) {
    if (value.indexOf('/', slash + 1) >= 0) {
      return [
        `a qualified name ${explainQualifiedName()} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
      ];
    }
    const prefix = value.slice(0, slash);
    name = value.slice(slash + 1);
    if (prefix === '') problems.push(`prefix part ${nonEmptyText}`);
    else for (const problem of checkDns1123Subdomain(prefix)) problems.push(`prefix part ${problem}`);
  }
  if (name === '') problems.push(`name part ${nonEmptyText}`);
  else if (name.length > 63) problems.push(`name part ${maxLengthText(63)}`);
  if (!qualifiedName.test(name)) problems.push(`name part ${explainQualifiedName()}`);
  return problems;
}

export function checkLabelValue(value = ''): string[] {
  return check(value, labelValue, 63, () =>
    patternText(
      "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
      labelValueFormat,
      'MyValue',
      'my_value',
      '12345',
    ),
  );
}

export function checkCIdentifier(value = ''): string[] {
  return check(value, cIdentifier, Number.POSITIVE_INFINITY, () =>
    patternText(
      "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_'",
      cIdentifierFormat,
      'my_name',
      'MY_NAME',
      'MyName',
    ),
  );
}

function relativePathProblems(value: string): string[] {
  if (value === '.') return ["must not be '.'"];
  if (value === '..') return ["must not be '..'"];
  return value.startsWith('..') ? ["must not start with '..'"] : [];
}

/** The strict form of environment variable names. Older servers still require it for prefixes of imported variables. */
export function checkStrictEnvVarName(value = ''): string[] {
  const problems = check(value, envVarName, Number.POSITIVE_INFINITY, () =>
    patternText(
      "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and must not start with a digit",
      envVarNameFormat,
      'my.env-name',
      'MY_ENV.NAME',
      'MyEnvName1',
    ),
  );
  return [...problems, ...relativePathProblems(value)];
}

/** kube-apiserver accepts any printable ASCII except `=` since 1.34. */
export function checkEnvVarName(value = ''): string[] {
  const problems: string[] = [];
  if (value === '') problems.push(`environment variable name ${nonEmptyText}`);
  if (!printableExceptEquals.test(value)) {
    problems.push("a valid environment variable name must consist only of printable ASCII characters other than '='");
  }
  return problems;
}

/** Keys of ConfigMap and Secret data. */
export function checkConfigMapKey(value = ''): string[] {
  const problems = check(value, configMapKey, 253, () =>
    patternText(
      "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
      configMapKeyFormat,
      'key.name',
      'KEY_NAME',
      'key-name',
    ),
  );
  return [...problems, ...relativePathProblems(value)];
}

export function checkHttpHeaderName(value = ''): string[] {
  return check(value, httpHeader, Number.POSITIVE_INFINITY, () =>
    patternText(
      "a valid HTTP header must consist of alphanumeric characters or '-'",
      httpHeaderFormat,
      'X-Header-Name',
    ),
  );
}

/** Checks the part of a domain-prefixed path after the domain. */
export function checkHttpPath(value = ''): string[] {
  return httpPath.test(value) ? [] : [patternText('Invalid path', httpPathFormat)];
}

/** Names of ports that are resolved: IANA service names. */
export function checkPortName(value = ''): string[] {
  const problems: string[] = [];
  if (value.length > 15) problems.push(maxLengthText(15));
  if (!portNameCharacters.test(value)) {
    problems.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)');
  }
  if (!oneLetter.test(value)) problems.push('must contain at least one letter (a-z)');
  if (value.includes('--')) problems.push('must not contain consecutive hyphens');
  if (value.startsWith('-') || value.endsWith('-')) problems.push('must not begin or end with a hyphen');
  return problems;
}

/** Names that only need to be a segment of a URL path, for example of RBAC objects. */
export function checkPathSegmentName(value = ''): string[] {
  if (value === '.') return ["may not be '.'"];
  if (value === '..') return ["may not be '..'"];
  const problems: string[] = [];
  for (const forbidden of ['/', '%']) {
    if (value.includes(forbidden)) problems.push(`may not contain '${forbidden}'`);
  }
  return problems;
}

/**
 * Prepares a generateName for validation. It may end with a dash because characters follow, so upstream checks it as
 * part of a longer name.
 */
export function maskTrailingDash(prefix: string): string {
  return prefix.length > 1 && prefix.endsWith('-') ? `${prefix.slice(0, -2)}a` : prefix;
}
