/** Replacements of characters that an attribute value must not contain, or that XML parsers would turn into spaces. */
const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\n': '&#10;',
  '\r': '&#13;',
  '\t': '&#9;',
};

/** Returns a start tag, or with `/>` an empty element. Escapes values and removes characters that XML 1.0 (section 2.2) forbids. */
export function openTag(
  name: string,
  attributes: Readonly<Record<string, string | number>>,
  end: '>' | '/>' = '>',
): string {
  const pairs = Object.entries(attributes).map(([key, value]) => ` ${key}="${escapeXml(String(value))}"`);
  return `<${name}${pairs.join('')}${end}`;
}

function escapeXml(text: string): string {
  return text
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '')
    .replace(/[&<>"\n\r\t]/g, (character) => entities[character] ?? character);
}
