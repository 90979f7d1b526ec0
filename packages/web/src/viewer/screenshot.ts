/**
 * Creates picture files of the visible field (the part of a slide in the viewer), with annotations, result layers, drawings, scale bar,
 * slide name and notes.
 */
import { adjustPixels, type ColourAdjustment, isAsScanned } from './colours/adjustment.ts';
import type { Figure } from './overlay/figures.ts';
import type { ScaleBar } from './scale.ts';
import type { Strip } from './screenshot/capture.ts';
import { createPngWriter } from './screenshot/png-writer.ts';
import type { ViewPicture } from './view-picture.ts';

/** Everything that is drawn over the slide in a picture file. */
export interface Decorations {
  /** Annotations and result layers, in device pixels of the viewer; null when the view shows none. */
  readonly overlays: HTMLCanvasElement | null;
  /** Measurements and marks, in CSS pixels of the viewer. */
  readonly figures: readonly Figure[];
  /** Null for a slide without a scale. */
  readonly scaleBar: ScaleBar | null;
  /** Slide name and magnification, beside the scale bar. */
  readonly caption: string;
  /** Notes at the top of the picture, one line each, such as changed colours or missing tiles. */
  readonly notes: readonly string[];
}

/** The input of `takeScreenshot`: the view as it is on the screen now. */
export interface RenderedView extends Decorations {
  readonly picture: ViewPicture;
  /** The colour adjustment, which is applied to the picture unless the picture already contains it. */
  readonly colours: ColourAdjustment;
}

export type PictureType = 'image/png' | 'image/jpeg';

/** The input of `takeCapture`: the view, drawn again at a chosen magnification. */
export interface CapturedView extends Decorations {
  /** Horizontal strips of the picture, from top to bottom. */
  readonly strips: AsyncIterable<Strip>;
  /** Size of the picture in its pixels. */
  readonly width: number;
  readonly height: number;
  /** Pixels of the picture per CSS pixel of the viewer. */
  readonly ratio: number;
  readonly type: PictureType;
  /** Called after each strip. @param fraction of the picture that is done, 0 to 1 */
  readonly onProgress: (fraction: number) => void;
}

type Context = CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D;

// Sizes in CSS pixels.
const margin = 16;
const lineHeight = 20;
/** Height of the vertical lines at both ends of the scale bar. */
const endTickHeight = 6;
const font = "600 14px 'Inter Variable', system-ui, sans-serif";
const light = '#ffffff';
const dark = '#17151f';
/** Colour of measured shapes. */
const lineColour = '#ffe14d';
const slideBackground = '#ffffff';
const jpegQuality = 0.92; // from 0 to 1

/** Returns the view as a PNG in device pixels. @throws Error when the browser cannot create a canvas or the PNG */
export async function takeScreenshot(view: RenderedView): Promise<Blob> {
  const { canvas: slide, hasAdjustedColours, width, height } = view.picture;
  const canvas = document.createElement('canvas');
  canvas.width = slide.width;
  canvas.height = slide.height;
  const context = canvas.getContext('2d');
  if (context === null) throw new Error('This browser does not support 2D canvas.');
  context.fillStyle = slideBackground;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(slide, 0, 0);
  if (!hasAdjustedColours && !isAsScanned(view.colours)) {
    const pixels = context.getImageData(0, 0, canvas.width, canvas.height);
    adjustPixels(pixels.data, view.colours);
    context.putImageData(pixels, 0, 0);
  }
  // From here on, the context uses CSS pixels, like the decorations.
  const scale = slide.width / width;
  context.scale(scale, scale);
  decorate(context, view, { width, height });
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/png'));
  if (blob === null) throw new Error('The browser could not encode the screenshot.');
  return blob;
}

/**
 * Creates a picture from its strips. A PNG is compressed strip by strip; browsers can encode a JPEG only from a whole canvas.
 *
 * @throws the error of the iterator of strips; Error when the browser cannot create the picture
 */
export async function takeCapture(view: CapturedView): Promise<Blob> {
  const { width, height, ratio, type } = view;
  const png = type === 'image/png' ? createPngWriter(width, height) : null;
  const jpegCanvas = png === null ? new OffscreenCanvas(width, height) : null;
  const jpegContext = jpegCanvas?.getContext('2d', { alpha: false }) ?? null;
  for await (const { top, canvas, context } of view.strips) {
    // The decorations are in CSS pixels of the whole view; the strip shows its part of them.
    context.setTransform(ratio, 0, 0, ratio, 0, -top);
    decorate(context, view, { width: width / ratio, height: height / ratio });
    if (png !== null) await png.addRows(context.getImageData(0, 0, width, canvas.height).data);
    else if (jpegContext !== null) jpegContext.drawImage(canvas, 0, top);
    else throw new Error('This browser does not support 2D canvas of this size.');
    view.onProgress((top + canvas.height) / height);
  }
  if (png !== null) return png.finish();
  // This never happens: without a PNG writer, there is a canvas. TypeScript needs the check.
  if (jpegCanvas === null) throw new Error('The picture has neither a PNG writer nor a canvas.');
  return jpegCanvas.convertToBlob({ type, quality: jpegQuality });
}

/** Draws the decorations. The context must use CSS pixels of the viewer. @param size of the viewer in CSS pixels */
function decorate(
  context: Context,
  view: Decorations,
  { width, height }: { readonly width: number; readonly height: number },
): void {
  if (view.overlays !== null) context.drawImage(view.overlays, 0, 0, width, height);
  context.font = font;
  for (const figure of view.figures) drawFigure(context, figure);
  drawFoot(context, view, { width, height });
  drawNotes(context, view.notes, width);
}

function drawFigure(context: Context, { outline, label, labelPosition }: Figure): void {
  context.beginPath();
  for (const { x, y } of outline) context.lineTo(x, y); // on an empty path, `lineTo` only sets the first point
  context.lineJoin = 'round';
  stroke(context, dark, 4); // the dark line shows as an edge on both sides of the narrower one
  stroke(context, lineColour, 2);
  context.textAlign = 'center';
  if (label !== null) drawText(context, label, labelPosition.x, labelPosition.y);
}

/** Draws the scale bar and the caption at the bottom left: the caption beside the bar or, if the caption is too long, above the bar. */
function drawFoot(
  context: Context,
  { scaleBar, caption }: Decorations,
  { width, height }: { readonly width: number; readonly height: number },
): void {
  const bottom = height - margin;
  context.textAlign = 'left';
  let captionLeft = margin;
  let captionBottom = bottom;
  if (scaleBar !== null) {
    const left = margin;
    context.beginPath();
    context.moveTo(left, bottom - endTickHeight);
    context.lineTo(left, bottom);
    context.lineTo(left + scaleBar.width, bottom);
    context.lineTo(left + scaleBar.width, bottom - endTickHeight);
    stroke(context, light, 5); // shows as an edge on both sides of the dark line
    stroke(context, dark, 2);
    drawText(context, scaleBar.label, left, bottom - 2 * endTickHeight);
    const besideBar = left + Math.max(scaleBar.width, widthOf(context, scaleBar.label)) + margin;
    if (besideBar + widthOf(context, caption) <= width - margin) captionLeft = besideBar;
    else captionBottom -= 2 * endTickHeight + lineHeight; // above the bar's label
  }
  for (const [index, line] of linesOf(context, caption, width - margin - captionLeft)
    .toReversed()
    .entries())
    drawText(context, line, captionLeft, captionBottom - lineHeight * index);
}

function drawNotes(context: Context, notes: readonly string[], width: number): void {
  context.textAlign = 'left';
  const lines = notes.flatMap((note) => linesOf(context, note, width - 2 * margin));
  for (const [index, line] of lines.entries())
    drawText(context, line, margin, margin + lineHeight * (index + 1));
}

const widthOf = (context: Context, text: string) => context.measureText(text).width;

/** Breaks a text into lines of at most `maxWidth` CSS pixels: at spaces, and inside a word that is longer, such as a file name. */
function linesOf(context: Context, text: string, maxWidth: number): readonly string[] {
  if (widthOf(context, text) <= maxWidth) return [text];
  const lines: string[] = [];
  let line = '';
  for (const character of text) {
    if (line !== '' && widthOf(context, line + character) > maxWidth) {
      const lastSpace = line.lastIndexOf(' ');
      const end = character === ' ' || lastSpace === -1 ? line.length : lastSpace;
      lines.push(line.slice(0, end).trimEnd());
      line = line.slice(end).trimStart();
    }
    if (line !== '' || character !== ' ') line += character;
  }
  return [...lines, line];
}

function stroke(context: Context, colour: string, width: number): void {
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.stroke();
}

/** Draws light text with a dark outline, which is legible on every stain. */
function drawText(context: Context, text: string, x: number, y: number): void {
  context.lineWidth = 4;
  context.lineJoin = 'round';
  context.strokeStyle = dark;
  context.strokeText(text, x, y);
  context.fillStyle = light;
  context.fillText(text, x, y);
}

/**
 * Returns a file name such as `Case 7 20x.png`, which is valid on every operating system.
 *
 * @param magnification label such as `20×`, `≈ 2.5×` or the Turkish `2,5×`
 */
export function screenshotName(
  slideName: string,
  magnification: string,
  type: PictureType = 'image/png',
): string {
  const magnificationWithPoint = magnification.replace(',', '.'); // Turkish has a decimal comma
  const text = `${slideName} ${magnificationWithPoint}`.replaceAll('×', 'x');
  const validText = text.replace(/[^\p{L}\p{N}._ -]+/gu, '');
  const name = validText.replace(/ +/g, ' ').trim();
  return `${name || 'slide'}.${type === 'image/png' ? 'png' : 'jpg'}`;
}
