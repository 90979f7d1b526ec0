/** Draws what is in the person's hand: the selected annotations with their vertices, the unfinished shape, the brush. */
import { boundsOf, boundsTouch, type Geometry, type Position } from '@lamina/annotations';
import { type Placement, type Point, toScreen, visibleBounds, zoomOf } from '../overlay/placement.ts';
import type { Calibration } from '../scale.ts';
import { type Annotation, colorOf, cssColor, mapPositions } from './annotation.ts';
import type { AnnotationStore } from './annotation-store.ts';
import type { Draft } from './drafts.ts';
import type { DrawingSession } from './drawing-session.ts';
import { addOutline, levelOf } from './outline-path.ts';
import { applyPlacement, drawnMargin, type ViewSize } from './painter.ts';
import { draftGeometry, sizeText } from './readout.ts';
import { moveVertex, verticesOf } from './vertices.ts';

const dark = '#17151f';
const handleSize = 7;
const chosenHandleSize = 11;
const dotSize = 13;
const badgeRadius = 13;
const selectedWidth = 3;
/** Vertices nearer than this on the screen are too dense to be shown. */
const mostHandlesShown = 500;

interface Scene {
  readonly context: CanvasRenderingContext2D;
  readonly placement: Placement;
  readonly size: ViewSize;
  readonly store: AnnotationStore;
  readonly session: DrawingSession;
  readonly calibration: Calibration | null;
  /** Whether the person is in the drawing mode; else selected annotations have no handles. */
  readonly isDrawing: boolean;
}

export function drawDraft(scene: Scene): void {
  const { store, session } = scene;
  const { draft } = session;
  for (const annotation of store.selected()) {
    if (!store.isVisible(annotation)) continue;
    const geometry = geometryInHand(annotation, draft);
    strokeGeometry(scene, geometry, cssColor(colorOf(annotation.feature)), true);
    if (scene.isDrawing && session.tool === 'move' && store.canEdit(annotation)) {
      drawHandles(scene, annotation.id, geometry);
    }
    if (draft?.kind === 'vertex' && draft.id === annotation.id) drawReadout(scene, geometry, draft.to);
  }
  drawAuthors(scene);
  if (!scene.isDrawing) return;
  if (draft !== null) drawUnfinished(scene, draft);
  if (session.tool === 'brush' && session.pointer !== null) drawBrush(scene, session.pointer);
}

/** Returns the geometry of a selected annotation while it is dragged. */
function geometryInHand({ id, feature }: Annotation, draft: Draft | null): Geometry {
  if (draft?.kind === 'move') {
    const [dx, dy] = [draft.to[0] - draft.from[0], draft.to[1] - draft.from[1]];
    return mapPositions(feature.geometry, ([x, y]) => [x + dx, y + dy]);
  }
  if (draft?.kind === 'vertex' && draft.id === id)
    return moveVertex(feature.geometry, draft.vertex, draft.to);
  return feature.geometry;
}

function strokeGeometry(scene: Scene, geometry: Geometry, color: string, isSelected: boolean): void {
  const { context, placement, size } = scene;
  if (!boundsTouch(boundsOf(geometry), visibleBounds(placement, size, drawnMargin))) return;
  const zoom = zoomOf(placement);
  const path = new Path2D();
  addOutline(path, geometry, levelOf(zoom));
  const isDots = geometry.type === 'Point' || geometry.type === 'MultiPoint';
  const width = isDots ? dotSize : selectedWidth;
  applyPlacement(context, placement, size.pixelRatio);
  context.lineJoin = 'round';
  context.lineCap = 'round';
  context.setLineDash([]);
  if (isSelected) {
    context.lineWidth = (width + 5) / zoom;
    context.strokeStyle = dark;
    context.stroke(path);
    context.lineWidth = (width + 2.5) / zoom;
    context.strokeStyle = '#ffe14d';
    context.stroke(path);
  }
  context.lineWidth = (isSelected ? width - 1 : width) / zoom;
  context.strokeStyle = color;
  context.stroke(path);
}

function drawUnfinished(scene: Scene, draft: Draft): void {
  const { session } = scene;
  const color = cssColor(session.classification?.color ?? [255, 0, 0]);
  if (draft.kind === 'stroke') {
    drawStroke(scene, draft);
    return;
  }
  const geometry = draftGeometry(draft, false);
  if (geometry === null) return;
  strokeGeometry(scene, geometry, color, false);
  const measured = session.tool === 'polygon' ? draftGeometry(draft, true) : geometry;
  const end =
    draft.kind === 'box' ? draft.to : draft.kind === 'path' ? (draft.floating ?? draft.fixed.at(-1)) : null;
  if (measured !== null && end) drawReadout(scene, measured, end);
  if (draft.kind === 'path') drawDots(scene, draft.fixed.slice(0, mostHandlesShown));
}

function drawStroke(
  { context, placement, size, session }: Scene,
  draft: Draft & { readonly kind: 'stroke' },
): void {
  const color = session.classification?.color ?? [255, 0, 0];
  applyPlacement(context, placement, size.pixelRatio);
  context.lineJoin = 'round';
  context.lineCap = 'round';
  context.lineWidth = draft.radius * 2;
  context.strokeStyle = draft.subtracts ? 'rgb(23 21 31 / 0.45)' : cssColor(color, 0.45);
  context.beginPath();
  for (const [index, [x, y]] of draft.path.entries()) {
    if (index === 0) context.moveTo(x, y);
    context.lineTo(index === 0 ? x + 0.05 : x, y);
  }
  context.stroke();
}

function drawBrush({ context, placement, size, session }: Scene, [x, y]: Position): void {
  const centre = toScreen(placement, { x, y });
  onScreen(context, size);
  for (const [width, color] of [
    [3, dark],
    [1.5, '#fff'],
  ] as const) {
    context.beginPath();
    context.arc(centre.x, centre.y, session.brushRadius, 0, 2 * Math.PI);
    context.lineWidth = width;
    context.strokeStyle = color;
    context.stroke();
  }
}

function drawHandles(scene: Scene, id: string, geometry: Geometry): void {
  const { context, placement, size, session } = scene;
  const { width, height } = size;
  const vertices = verticesOf(geometry);
  const shown: { readonly at: Point; readonly isChosen: boolean }[] = [];
  for (const vertex of vertices) {
    const at = toScreen(placement, { x: vertex.at[0], y: vertex.at[1] });
    if (at.x < 0 || at.y < 0 || at.x > width || at.y > height) continue;
    const chosen = session.chosenVertex;
    const isChosen =
      chosen?.id === id && chosen.vertex.path === vertex.path && chosen.vertex.index === vertex.index;
    shown.push({ at, isChosen });
  }
  if (shown.length > mostHandlesShown) return;
  onScreen(context, size);
  context.lineWidth = 1.5;
  context.strokeStyle = dark;
  for (const { at, isChosen } of shown) {
    const side = isChosen ? chosenHandleSize : handleSize;
    context.fillStyle = isChosen ? '#ffe14d' : '#fff';
    context.beginPath();
    context.rect(at.x - side / 2, at.y - side / 2, side, side);
    context.fill();
    context.stroke();
  }
}

function drawDots({ context, placement, size }: Scene, positions: readonly Position[]): void {
  onScreen(context, size);
  context.fillStyle = '#fff';
  context.strokeStyle = dark;
  context.lineWidth = 1;
  for (const [x, y] of positions) {
    const at = toScreen(placement, { x, y });
    context.beginPath();
    context.arc(at.x, at.y, 3, 0, 2 * Math.PI);
    context.fill();
    context.stroke();
  }
}

/** Draws the initials of other people beside what they have changed a moment ago. */
function drawAuthors({ context, placement, size, store }: Scene): void {
  if (store.recentAuthors.size === 0) return;
  onScreen(context, size);
  context.font = '600 12px Inter Variable, sans-serif';
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  for (const [id, initials] of store.recentAuthors) {
    const annotation = store.find(id);
    if (annotation === undefined || !store.isVisible(annotation)) continue;
    const { minX, minY, maxX } = annotation.bounds;
    const { x, y } = toScreen(placement, { x: (minX + maxX) / 2, y: minY });
    context.fillStyle = dark;
    context.beginPath();
    context.arc(x, y - badgeRadius, badgeRadius, 0, 2 * Math.PI);
    context.fill();
    context.fillStyle = '#fff';
    context.fillText(initials, x, y - badgeRadius + 1);
  }
  context.textAlign = 'start';
  context.textBaseline = 'alphabetic';
}

function drawReadout(scene: Scene, geometry: Geometry, [x, y]: Position): void {
  const { context, placement, size, calibration } = scene;
  const at = toScreen(placement, { x, y });
  const text = sizeText(geometry, calibration);
  onScreen(context, size);
  context.font = '600 14px Inter Variable, sans-serif';
  context.lineWidth = 4;
  context.lineJoin = 'round';
  context.strokeStyle = dark;
  context.fillStyle = '#fff';
  const width = context.measureText(text).width;
  const left = Math.min(at.x + 14, size.width - width - 8);
  const top = Math.max(20, at.y - 14);
  context.strokeText(text, left, top);
  context.fillText(text, left, top);
}

/** Draws in CSS pixels from here on. */
function onScreen(context: CanvasRenderingContext2D, { pixelRatio }: ViewSize): void {
  context.setTransform(pixelRatio, 0, 0, pixelRatio, 0, 0);
  context.setLineDash([]);
}
