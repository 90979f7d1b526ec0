/** What is seen of a slide as a picture file: with what is drawn over it, its scale bar and its name. */
import { adjustPixels, type ColourAdjustment, isAsScanned } from './colours/adjustment.ts';
import type { Figure } from './overlay/figures.ts';
import type { ScaleBar } from './scale.ts';

export interface Seen {
  /** The slide as it is drawn now, in the screen's own pixels. */
  readonly canvas: HTMLCanvasElement;
  readonly colours: ColourAdjustment;
  /** In CSS pixels of the viewer's place. */
  readonly figures: readonly Figure[];
  /** Null where the slide is not calibrated. */
  readonly scaleBar: ScaleBar | null;
  /** Such as the slide's name and the magnification, beside the scale bar. */
  readonly caption: string;
}

const margin = 16;
const font = "600 14px 'Inter Variable', system-ui, sans-serif";
const light = '#ffffff';
const dark = '#17151f';
const lineColour = '#ffe14d';
const slideBackground = '#ffffff';

/** @returns a PNG. @throws when the browser makes none */
export async function takeScreenshot(seen: Seen): Promise<Blob> {
  const { canvas: slide } = seen;
  const canvas = document.createElement('canvas');
  canvas.width = slide.width;
  canvas.height = slide.height;
  const context = canvas.getContext('2d');
  if (context === null) throw new Error('This browser draws no pictures.');
  context.fillStyle = slideBackground;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(slide, 0, 0);
  if (!isAsScanned(seen.colours)) {
    const pixels = context.getImageData(0, 0, canvas.width, canvas.height);
    adjustPixels(pixels.data, seen.colours);
    context.putImageData(pixels, 0, 0);
  }
  // From here on in CSS pixels, as everything over the slide is.
  const scale = slide.width / slide.clientWidth;
  context.scale(scale, scale);
  context.font = font;
  for (const figure of seen.figures) drawFigure(context, figure);
  drawFoot(context, seen, slide.clientHeight);
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/png'));
  if (blob === null) throw new Error('This picture could not be made into a file.');
  return blob;
}

function drawFigure(context: CanvasRenderingContext2D, { outline, measure, measureAt }: Figure): void {
  context.beginPath();
  for (const { x, y } of outline) context.lineTo(x, y);
  context.lineJoin = 'round';
  stroke(context, dark, 4);
  stroke(context, lineColour, 2);
  context.textAlign = 'center';
  if (measure !== null) write(context, measure, measureAt.x, measureAt.y);
}

function drawFoot(context: CanvasRenderingContext2D, { scaleBar, caption }: Seen, height: number): void {
  const bottom = height - margin;
  context.textAlign = 'left';
  let left = margin;
  if (scaleBar !== null) {
    context.beginPath();
    context.moveTo(left, bottom - 6);
    context.lineTo(left, bottom);
    context.lineTo(left + scaleBar.width, bottom);
    context.lineTo(left + scaleBar.width, bottom - 6);
    stroke(context, light, 5);
    stroke(context, dark, 2);
    write(context, scaleBar.label, left, bottom - 12);
    left += Math.max(scaleBar.width, context.measureText(scaleBar.label).width) + margin;
  }
  write(context, caption, left, bottom);
}

function stroke(context: CanvasRenderingContext2D, colour: string, width: number): void {
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.stroke();
}

/** Light letters with a dark edge are read on every stain. */
function write(context: CanvasRenderingContext2D, text: string, x: number, y: number): void {
  context.lineWidth = 4;
  context.lineJoin = 'round';
  context.strokeStyle = dark;
  context.strokeText(text, x, y);
  context.fillStyle = light;
  context.fillText(text, x, y);
}

/** A file name that every system takes. */
export function screenshotName(slideName: string, magnification: string): string {
  const decimal = magnification.replace(',', '.'); // as Turkish writes it
  const words = `${slideName} ${decimal}`.replaceAll('×', 'x').replace(/[^\p{L}\p{N}._ -]+/gu, '');
  const safe = words.replace(/ +/g, ' ').trim();
  return `${safe || 'slide'}.png`;
}
