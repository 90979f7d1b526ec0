import { describe, expect, it } from 'vitest';
import { elementsAt, readXml, textAt, xmlLimits } from './read-xml.ts';

describe('readXml (parses the XML metadata of a slide)', () => {
  it('returns elements with their attributes and text', () => {
    const root = readXml(
      '\ufeff<?xml version="1.0" encoding="utf-8"?>\n<!-- by a scanner -->\n' +
        '<Image Id="1" Name=\'a "b"\'>\n  <Size>\n 12 </Size><Empty/><Size unit="px">13</Size>tail\n</Image>\n',
    );
    expect(root).toMatchObject({ name: 'Image', text: 'tail' });
    expect([...root.attributes]).toEqual([
      ['Id', '1'],
      ['Name', 'a "b"'],
    ]);
    expect(root.children.map(({ name, text }) => [name, text])).toEqual([
      ['Size', '12'],
      ['Empty', ''],
      ['Size', '13'],
    ]);
  });

  it('accepts a document with a newline before the XML declaration, although XML forbids it', () => {
    expect(readXml('\r\n<?xml version="1.0"?><a/>').name).toBe('a');
  });

  it('keeps the first of two attributes that differ only in their namespace prefix', () => {
    const root = readXml('<a x:b="1" y:b="2"/>');
    expect([...root.attributes]).toEqual([['b', '1']]);
  });

  it('returns a tree in which elementsAt and textAt find elements and text by path', () => {
    const root = readXml(
      '<a><b><c>1</c></b><b><c x="y"/><c>2</c></b><d><toString/><hasOwnProperty>3</hasOwnProperty></d></a>',
    );
    expect(elementsAt(root, 'b/c').map(({ text }) => text)).toEqual(['1', '', '2']);
    expect(textAt(root, 'b/c')).toBe('1');
    expect(textAt(root, 'b/e')).toBeNull();
    expect(textAt(root, 'd/hasOwnProperty')).toBe('3');
  });

  it('removes namespace prefixes from the names of elements and attributes', () => {
    const root = readXml('<ome:OME xmlns:ome="urn:x"><ome:Image ome:ID="Image:0"/></ome:OME>');
    expect(root.name).toBe('OME');
    expect(root.children[0]?.attributes.get('ID')).toBe('Image:0');
  });

  it.each([
    ['&amp;&lt;&gt;&quot;&apos;', '&<>"\''],
    ['&#65;&#x42;&#x1F600;', 'AB\u{1f600}'],
    ['<![CDATA[<a> & ]] &b;]]>', '<a> & ]] &b;'],
    ['1 &lt; <!-- 2 -->3', '1 < 3'],
    ['µm', 'µm'],
  ])('decodes the element content %j as the text %j', (content, text) => {
    expect(readXml(`<a>${content}</a>`).text).toBe(text);
  });

  it('skips an element and its children when the keep callback returns false for its path', () => {
    const visited: string[] = [];
    const root = readXml('<a><b><c/></b><d><e>1</e></d></a>', (path) => {
      visited.push(path.join('/'));
      return path[1] !== 'b';
    });
    expect(root.children.map(({ name }) => name)).toEqual(['d']);
    expect(visited).toEqual(['a/b', 'a/d', 'a/d/e']);
  });

  it.each<[string, string]>([
    ['an empty string', ''],
    ['a document of only white space', ' \n'],
    ['text without an element', 'text'],
    ['text after the root element', '<a/>b'],
    ['two root elements', '<a/><b/>'],
    ['an element that does not end', '<a><b></b>'],
    ['an end tag without a start tag', '<a></a></a>'],
    ['overlapping elements', '<a><b></a></b>'],
    ['a tag with a space before its name', '< a/>'],
    ['a tag that does not end', '<a b="c"'],
    ['an attribute without quotes', '<a b=c/>'],
    ['an attribute without a value', '<a b/>'],
    ['an attribute whose value contains a tag', '<a b="<c>"/>'],
    ['a comment that does not end', '<a><!-- </a>'],
    ['a CDATA section that does not end', '<a><![CDATA[ </a>'],
    ['an XML declaration that does not end', '<?xml version="1.0"'],
    ['a document type definition', '<!DOCTYPE a><a/>'],
    ['an external entity', '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>'],
    [
      'entities defined by other entities (entity expansion)',
      `<!DOCTYPE a [<!ENTITY b "b">${Array.from({ length: 9 }, (_, i) => `<!ENTITY b${i} "&b;&b;">`).join('')}]><a>&b8;</a>`,
    ],
    ['an unknown entity', '<a>&nbsp;</a>'],
    ['the undefined entity &constructor;, named like a property of every object', '<a>&constructor;</a>'],
    ['an ampersand that begins no entity', '<a>1 & 2</a>'],
    ['a character reference beyond Unicode', '<a>&#x110000;</a>'],
    ['a character reference to NUL', '<a>&#0;</a>'],
  ])('throws FILE_CORRUPT for %s', (_, document) => {
    expect(() => readXml(document)).toThrow(expect.objectContaining({ code: 'FILE_CORRUPT' }));
  });

  it.each<[string, string]>([
    ['elements nested 10^5 deep (limit: 256)', '<a>'.repeat(100_000)],
    ['a document of 10^6 elements (limit: 100,000)', `<a>${'<b/>'.repeat(1_000_000)}</a>`],
    [
      'an element with 10^4 attributes (limit: 256)',
      `<a ${Array.from({ length: 10_000 }, (_, i) => `b${i}=""`).join(' ')}/>`,
    ],
    ['a document of more than 16 MiB', `<a>${'b'.repeat(xmlLimits.characters)}</a>`],
  ])('throws LIMIT_EXCEEDED for %s', (_, document) => {
    expect(() => readXml(document)).toThrow(expect.objectContaining({ code: 'LIMIT_EXCEEDED' }));
  });

  it('accepts more elements than the limit of 100,000 when the keep callback skips them', () => {
    const root = readXml(`<a>${'<b><c/></b>'.repeat(xmlLimits.elements)}</a>`, () => false);
    expect(root.children).toEqual([]);
  });
});
