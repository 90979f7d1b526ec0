/** Paints, on top of all annotations, what the user edits: selected annotations, the draft (unfinished shape), the brush. */
import { boundsOf, boundsTouch, type Color, type Geometry, type Position } from '@lamina/annotations';
import { type Placement, type Point, toScreen, visibleBounds, zoomOf } from '../overlay/placement.ts';
import type { Calibration } from '../scale.ts';
import { type Annotation, colorOf, cssColor, mapPositions } from './annotation.ts';
import type { AnnotationStore } from './annotation-store.ts';
import type { Draft } from './drafts.ts';
import type { DrawingSession } from './drawing-session.ts';
import { addOutline, simplificationLevelOf } from './outline-path.ts';
import { applyPlacement, drawnMargin, type ViewSize } from './painter.ts';
import { draftGeometry, sizeText } from './readout.ts';
import { moveVertex, verticesOf } from './vertices.ts';

const darkColor = '#17151f';
/** Opacity of a brush stroke that is being drawn. */
const strokeOpacity = 0.45;
const translucentDark = `rgb(23 21 31 / ${strokeOpacity})`; // `darkColor` with this opacity
const selectionColor = '#ffe14d';
/** Colour of a draft without a class. */
const unclassifiedColor: Color = [255, 0, 0];
// The sizes below are in CSS pixels.
/** Side of the square on a vertex that can be dragged. */
const handleSize = 7;
/** Side of the square on the vertex that was clicked last. */
const chosenHandleSize = 11;
/** Diameter of the points of a selected or unfinished point annotation. */
const dotSize = 13;
/** Radius of the circle with the initials of another author. */
const badgeRadius = 13;
/** Width of the lines of a selected annotation and of a draft. */
const lineWidth = 3;
/** By how much each border of a selected annotation is wider than the line; half of this is visible on each side. */
const borderWidths = { dark: 5, yellow: 2.5 } as const;
/** Radius of the dot at a placed point of an unfinished line or polygon. */
const placedPointRadius = 3;
/** Distance between a position and the text next to it, which shows the length or area. */
const readoutOffset = 14;
/** When more vertices of an annotation than this are visible, they are too dense to be dragged, and the annotation gets no handles. */
const maxHandles = 500;
/** Only the first points of an unfinished line get a dot, because a freehand line has many more. */
const maxPlacedPoints = 500;

/** The canvas and the data that the functions of this file draw. */
interface Scene {
  readonly context: CanvasRenderingContext2D;
  readonly placement: Placement; // transform from image pixels to CSS pixels of the viewer
  readonly size: ViewSize;
  readonly store: AnnotationStore;
  readonly session: DrawingSession; // tool, draft and brush
  readonly calibration: Calibration | null; // null for a slide without a scale
  /** Whether the drawing mode is on; if not, selected annotations have no handles. */
  readonly isDrawing: boolean;
}

/** Draws the selected annotations and the initials of other users and, in the drawing mode, the draft and the brush. */
export function drawDraft(scene: Scene): void {
  const { store, session } = scene;
  const { draft } = session;
  for (const annotation of store.selected()) {
    if (!store.isVisible(annotation)) continue;
    const geometry = draggedGeometry(annotation, draft);
    strokeGeometry(scene, geometry, cssColor(colorOf(annotation.feature)), 'selection');
    if (scene.isDrawing && session.tool === 'move' && store.canEdit(annotation)) {
      drawHandles(scene, annotation.id, geometry);
    }
    if (draft?.kind === 'vertex' && draft.id === annotation.id) drawReadout(scene, geometry, draft.position);
  }
  drawAuthorInitials(scene);
  if (!scene.isDrawing) return;
  if (draft !== null) drawNewShape(scene, draft);
  if (session.tool === 'brush' && session.pointer !== null) drawBrushCircle(scene, session.pointer);
}

/** Returns the geometry of a selected annotation with the current drag applied. */
function draggedGeometry({ id, feature }: Annotation, draft: Draft | null): Geometry {
  if (draft?.kind === 'move') {
    const [dx, dy] = [draft.end[0] - draft.start[0], draft.end[1] - draft.start[1]];
    return mapPositions(feature.geometry, ([x, y]) => [x + dx, y + dy]);
  }
  if (draft?.kind === 'vertex' && draft.id === id)
    return moveVertex(feature.geometry, draft.vertex, draft.position);
  return feature.geometry;
}

/** Draws the outline of a geometry: with a border for a selected annotation, without a border for a draft. */
function strokeGeometry(scene: Scene, geometry: Geometry, color: string, style: 'selection' | 'draft'): void {
  const { context, placement, size } = scene;
  if (!boundsTouch(boundsOf(geometry), visibleBounds(placement, size, drawnMargin))) return; // not visible
  const zoom = zoomOf(placement);
  const path = new Path2D();
  addOutline(path, geometry, simplificationLevelOf(zoom)); // omits positions that make no difference at this zoom
  const areDots = geometry.type === 'Point' || geometry.type === 'MultiPoint';
  const width = areDots ? dotSize : lineWidth;
  applyPlacement(context, placement, size.pixelRatio); // from here on, the unit of the canvas is an image pixel
  context.lineJoin = 'round';
  context.lineCap = 'round';
  context.setLineDash([]);
  if (style === 'selection') {
    // A wide dark line and a narrower yellow one under the line itself make the selection visible on every tissue.
    context.lineWidth = (width + borderWidths.dark) / zoom;
    context.strokeStyle = darkColor;
    context.stroke(path);
    context.lineWidth = (width + borderWidths.yellow) / zoom;
    context.strokeStyle = selectionColor;
    context.stroke(path);
  }
  context.lineWidth = (style === 'selection' ? width - 1 : width) / zoom; // narrower, so that more of the yellow border is visible
  context.strokeStyle = color;
  context.stroke(path);
}

/**
 * Draws a draft that will become a new annotation, with its length or area as text unless it is a brush stroke. Draws nothing
 * while an existing annotation is dragged.
 */
function drawNewShape(scene: Scene, draft: Draft): void {
  const { session } = scene;
  const color = cssColor(session.classification?.color ?? unclassifiedColor);
  if (draft.kind === 'stroke') {
    drawStroke(scene, draft);
    return;
  }
  // A polygon is drawn as an open line and measured as the closed area.
  const openGeometry = draftGeometry(draft, 'open');
  if (openGeometry === null) return;
  strokeGeometry(scene, openGeometry, color, 'draft');
  const measuredGeometry = session.tool === 'polygon' ? draftGeometry(draft, 'closed') : openGeometry;
  const readoutPosition = endPositionOf(draft);
  if (measuredGeometry !== null && readoutPosition !== undefined) {
    drawReadout(scene, measuredGeometry, readoutPosition);
  }
  if (draft.kind === 'path') drawPlacedPoints(scene, draft.placed.slice(0, maxPlacedPoints));
}

/** Returns the end of a box or path: where the pointer is or, before it moves, the last placed point; undefined for other drafts. */
function endPositionOf(draft: Draft): Position | undefined {
  if (draft.kind === 'box') return draft.end;
  return draft.kind === 'path' ? (draft.pointer ?? draft.placed.at(-1)) : undefined;
}

/** Draws a brush stroke in the colour of its class, or dark while it erases. */
function drawStroke(
  { context, placement, size, session }: Scene,
  draft: Draft & { readonly kind: 'stroke' },
): void {
  const color = session.classification?.color ?? unclassifiedColor;
  applyPlacement(context, placement, size.pixelRatio);
  context.lineJoin = 'round';
  context.lineCap = 'round';
  context.lineWidth = draft.radius * 2;
  context.strokeStyle = draft.subtracts ? translucentDark : cssColor(color, strokeOpacity);
  context.beginPath();
  for (const [index, [x, y]] of draft.path.entries()) {
    if (index === 0) context.moveTo(x, y);
    // Browsers do not draw lines of length 0: the offset at the start makes a stroke of one position visible as a dot.
    context.lineTo(index === 0 ? x + 0.05 : x, y);
  }
  context.stroke();
}

/** Draws the circle of the brush around the pointer: a white line with a dark edge. */
function drawBrushCircle({ context, placement, size, session }: Scene, [x, y]: Position): void {
  const centre = toScreen(placement, { x, y });
  switchToCssPixels(context, size);
  for (const [width, color] of [
    [3, darkColor],
    [1.5, '#fff'],
  ] as const) {
    context.beginPath();
    context.arc(centre.x, centre.y, session.brushRadius, 0, 2 * Math.PI);
    context.lineWidth = width;
    context.strokeStyle = color;
    context.stroke();
  }
}

/** Draws a square on each visible vertex of a selected annotation: the user can drag the vertex there. */
function drawHandles(scene: Scene, annotationId: string, geometry: Geometry): void {
  const { context, placement, size } = scene;
  const { chosenVertex } = scene.session;
  const { width, height } = size;
  const handles: { readonly centre: Point; readonly isChosen: boolean }[] = [];
  for (const vertex of verticesOf(geometry)) {
    const centre = toScreen(placement, { x: vertex.position[0], y: vertex.position[1] });
    if (centre.x < 0 || centre.y < 0 || centre.x > width || centre.y > height) continue;
    const isChosen =
      chosenVertex?.id === annotationId &&
      chosenVertex.vertex.path === vertex.path &&
      chosenVertex.vertex.index === vertex.index;
    handles.push({ centre, isChosen });
  }
  if (handles.length > maxHandles) return;
  switchToCssPixels(context, size);
  context.lineWidth = 1.5;
  context.strokeStyle = darkColor;
  for (const { centre, isChosen } of handles) {
    const side = isChosen ? chosenHandleSize : handleSize;
    context.fillStyle = isChosen ? selectionColor : '#fff';
    context.beginPath();
    context.rect(centre.x - side / 2, centre.y - side / 2, side, side);
    context.fill();
    context.stroke();
  }
}

/** Draws a small dot at each placed point of a line or polygon. */
function drawPlacedPoints({ context, placement, size }: Scene, positions: readonly Position[]): void {
  switchToCssPixels(context, size);
  context.fillStyle = '#fff';
  context.strokeStyle = darkColor;
  context.lineWidth = 1;
  for (const [x, y] of positions) {
    const centre = toScreen(placement, { x, y });
    context.beginPath();
    context.arc(centre.x, centre.y, placedPointRadius, 0, 2 * Math.PI);
    context.fill();
    context.stroke();
  }
}

/** Draws the initials of other users above the annotations that they have just changed. */
function drawAuthorInitials({ context, placement, size, store }: Scene): void {
  if (store.recentAuthors.size === 0) return;
  switchToCssPixels(context, size);
  context.font = '600 12px Inter Variable, sans-serif';
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  for (const [id, initials] of store.recentAuthors) {
    const annotation = store.find(id);
    if (annotation === undefined || !store.isVisible(annotation)) continue;
    const { minX, minY, maxX } = annotation.bounds;
    const { x, y } = toScreen(placement, { x: (minX + maxX) / 2, y: minY });
    context.fillStyle = darkColor;
    context.beginPath();
    context.arc(x, y - badgeRadius, badgeRadius, 0, 2 * Math.PI);
    context.fill();
    context.fillStyle = '#fff';
    context.fillText(initials, x, y - badgeRadius + 1); // capitals look centred one CSS pixel below the middle
  }
  context.textAlign = 'start';
  context.textBaseline = 'alphabetic';
}

/** Writes the length or area of a geometry next to a position, inside the viewer. */
function drawReadout(scene: Scene, geometry: Geometry, [x, y]: Position): void {
  const { context, placement, size, calibration } = scene;
  const point = toScreen(placement, { x, y });
  const text = sizeText(geometry, calibration);
  switchToCssPixels(context, size);
  context.font = '600 14px Inter Variable, sans-serif';
  context.lineWidth = 4; // dark edge of the characters: the filled text covers the inner half
  context.lineJoin = 'round';
  context.strokeStyle = darkColor;
  context.fillStyle = '#fff';
  const width = context.measureText(text).width;
  // To the right of the position and above it, but at least 8 px from the viewer's right edge and 20 px below its top.
  const left = Math.min(point.x + readoutOffset, size.width - width - 8);
  const baseline = Math.max(20, point.y - readoutOffset);
  context.strokeText(text, left, baseline);
  context.fillText(text, left, baseline);
}

/** Sets the transform of a canvas so that the following drawing commands use CSS pixels of the viewer as their unit. */
function switchToCssPixels(context: CanvasRenderingContext2D, { pixelRatio }: ViewSize): void {
  context.setTransform(pixelRatio, 0, 0, pixelRatio, 0, 0);
  context.setLineDash([]);
}
