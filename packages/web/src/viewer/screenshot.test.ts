import { describe, expect, it, vi } from 'vitest';
import { asScanned } from './colours/adjustment.ts';
import { screenshotName, takeScreenshot } from './screenshot.ts';

describe('screenshotName (file name of a screenshot)', () => {
  it.each([
    ['Kolon kesiti 3.svs', '20×', 'Kolon kesiti 3.svs 20x.png'],
    ['../a/b:c?.svs', '≈ 2.5×', '..abc.svs 2.5x.png'],
    ['a,b.svs', '≈ 2,5×', 'ab.svs 2.5x.png'],
    ['İğne biyopsisi ş.ndpi', '40×', 'İğne biyopsisi ş.ndpi 40x.png'],
    ['', '', 'slide.png'],
  ])(
    'for the slide "%s" at the magnification "%s", returns the file name "%s"',
    (name, magnification, file) => {
      expect(screenshotName(name, magnification)).toBe(file);
    },
  );
});

describe('takeScreenshot (picture file of the visible field)', () => {
  interface DrawnText {
    readonly text: string;
    readonly x: number;
    readonly y: number;
  }

  /** Takes a screenshot of a view of 390 × 600 CSS pixels with a scale bar of 200 pixels. @returns its texts, from top to bottom */
  async function drawnTexts(caption: string, notes: readonly string[]): Promise<readonly DrawnText[]> {
    const texts: DrawnText[] = [];
    const context = {
      measureText: (text: string) => ({ width: characterWidth * text.length }),
      fillText: (text: string, x: number, y: number) => texts.push({ text, x, y }),
    };
    const doNothing = () => undefined;
    const completeContext = new Proxy(context, {
      get: (target, name) => Reflect.get(target, name) ?? doNothing,
    });
    vi.spyOn(HTMLCanvasElement.prototype, 'getContext').mockReturnValue(completeContext as never);
    vi.spyOn(HTMLCanvasElement.prototype, 'toBlob').mockImplementation((callback) => callback(new Blob()));
    await takeScreenshot({
      picture: { canvas: document.createElement('canvas'), hasAdjustedColours: true, width, height: 600 },
      colours: asScanned,
      overlays: null,
      figures: [],
      scaleBar: { width: 200, label: '500 µm' },
      caption,
      notes,
    });
    return texts.toSorted((a, b) => a.y - b.y);
  }
  const characterWidth = 8;
  const width = 390;
  const isInside = ({ text, x }: DrawnText) => x >= 0 && x + characterWidth * text.length <= width;
  const scaleEntered = '* scale entered by hand';

  it('writes the whole caption and all notes in a narrow view, in lines that do not overlap', async () => {
    const fileName = 'SYNTHETIC-2026-CASE-0042-BLOCK-A1-SLIDE-17-HE.svs';
    const note = 'The colour correction could not be loaded: colours are shown as scanned';
    const texts = await drawnTexts(`${fileName}   20×   ${scaleEntered}`, [note, 'Colours changed']);
    expect(texts.filter((text) => !isInside(text))).toEqual([]);
    const compact = (text: string) => text.replaceAll(' ', '');
    const allText = compact(texts.map(({ text }) => text).join(''));
    for (const text of [fileName, '20×', scaleEntered, note, 'Colours changed', '500 µm'])
      expect(allText).toContain(compact(text));
    expect(new Set(texts.map(({ y }) => y)).size).toBe(texts.length);
  });

  it('writes a short caption in one line beside the scale bar', async () => {
    const texts = await drawnTexts('A1.svs   20×', []);
    expect(texts.at(-1)).toEqual({ text: 'A1.svs   20×', x: 232, y: 584 });
  });
});
