import { describe, expect, it } from 'vitest';
import { blankXml, omeAllowlist, qptiffAllowlist } from './blank-xml.ts';

describe('blankXml (de-identifies the XML metadata of a slide)', () => {
  it('keeps the attribute values of an allowlist, and replaces other attribute values, text and comments by spaces', () => {
    const xml = `<?xml version="1.0"?><!-- Jane --><OME xmlns="http://x" Creator="Jane"><Image ID="Image:0" Name='Jane'><Pixels SizeX="10"/>Jane</Image></OME>`;
    expect(blankXml(xml, omeAllowlist)).toBe(
      `<?xml version="1.0"?>             <OME xmlns="http://x" Creator="    "><Image ID="Image:0" Name='    '><Pixels SizeX="10"/>    </Image></OME>`,
    );
  });

  it('keeps the text of elements of an allowlist, and replaces other text and CDATA sections by spaces', () => {
    const xml = '<a><Objective>10x</Objective><Name>Jane</Name><Objective><![CDATA[Jane]]></Objective></a>';
    expect(blankXml(xml, qptiffAllowlist)).toBe(
      '<a><Objective>10x</Objective><Name>    </Name><Objective>                </Objective></a>',
    );
  });

  it.each([
    ['double quotes', '<Image Name="Jane > Doe" SizeX="1"/>', '<Image Name="          " SizeX="1"/>'],
    ['single quotes', '<Image Name=\'Jane > "Doe"\'>x</Image>', "<Image Name='            '> </Image>"],
  ])('replaces the whole of an attribute value in %s that contains ">" by spaces', (_, xml, blanked) => {
    expect(blankXml(xml, omeAllowlist)).toBe(blanked);
  });

  it('keeps an ID such as "Objective:0:1", and replaces an ID that may name a person, such as "Experimenter:4711", by spaces', () => {
    const xml =
      '<a><Objective ID="Objective:0:1"/><Annotation ID="Annotation:Resolution:0"/><Experimenter ID="Experimenter:jane.doe"/><Experimenter ID="Experimenter:4711"/><Dataset ID="Jane"/></a>';
    expect(blankXml(xml, omeAllowlist)).toBe(
      '<a><Objective ID="Objective:0:1"/><Annotation ID="Annotation:Resolution:0"/><Experimenter ID="                     "/><Experimenter ID="                 "/><Dataset ID="    "/></a>',
    );
  });

  it('replaces an XML declaration with an unknown attribute, and any other processing instruction, by spaces', () => {
    expect(blankXml('<?xml version="1.0" by="Jane"?><?jane 1?><a/>', omeAllowlist)?.trim()).toBe('<a/>');
  });

  it.each([
    ['with a document type', '<!DOCTYPE x [<!ENTITY e "Jane">]><x>&e;</x>'],
    ['with a document type in lower case', '<!doctype x><x/>'],
    ['with an attribute without quotes', '<a b=Jane/>'],
    ['with text in a start tag', '<a Jane/>'],
    ['with text in an end tag', '<a></a Jane>'],
    ['with "<" in an attribute value', '<a b="<Jane>"/>'],
    ['with a tag that does not end', '<a b="Jane"'],
    ['with an attribute value that does not end', '<a b="Jane/>'],
    ['with a comment that does not end', '<a><!-- Jane </a>'],
    ['with a tag without a name', '<a>< Jane></a>'],
  ])('returns null (not de-identifiable) for XML %s', (_, xml) => {
    expect(blankXml(xml, omeAllowlist)).toBeNull();
  });

  it.each<[string, (length: number) => string]>([
    ['a long name of an element', (length) => `<${'a'.repeat(length)}/>`],
    ['a long name of an attribute', (length) => `<a ${'b'.repeat(length)}/>`],
    ['many spaces in a tag', (length) => `<a${' '.repeat(length)}b/>`],
    ['many tags that do not end', (length) => '<a '.repeat(length / 3)],
    ['many comments that do not end', (length) => '<!-- '.repeat(length / 5)],
    ['many attributes', (length) => `<a${' b=""'.repeat(length / 5)}/>`],
    ['many line breaks', (length) => `<a>${'\r\n'.repeat(length / 2)}</a>`],
  ])(
    'needs linear time for 4 MiB with %s: quadratic time would exceed the time limit of the test',
    (_, xmlOf) => {
      const xml = xmlOf(4 * 2 ** 20);
      const blanked = blankXml(xml, omeAllowlist);
      expect(blanked?.length ?? xml.length).toBe(xml.length);
    },
  );
});
