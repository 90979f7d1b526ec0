/** The toolbar on the right of the slide, with the panels that its buttons open. */
import {
  IconAdjustments,
  IconArrowBackUp,
  IconCamera,
  IconCheck,
  IconCircle,
  IconDeviceFloppy,
  IconDots,
  IconLink,
  IconPencil,
  IconPhotoDown,
  IconPolygon,
  IconRuler2,
  IconStack2,
  IconTallymarks,
  IconTrash,
} from '@tabler/icons-react';
import { useRef } from 'react';
import { lazyPart } from '../components/lazy-part.tsx';
import { isAsScanned } from './colours/adjustment.ts';
import { ColourPanel } from './colours/ColourPanel.tsx';
import type { SlideColours } from './colours/use-colours.ts';
import type { WhiteBalance } from './colours/use-white-balance.ts';
import type { Drawing } from './overlay/drawing.ts';
import type { ShapeKind } from './overlay/shapes.ts';
import { PartFailed } from './PartFailed.tsx';
import type { ScreenshotPanelProps } from './ScreenshotPanel.tsx';
import classes from './SlideViewer.module.css';
import { ToolButton, type ToolButtonProps } from './ToolButton.tsx';
import { texts } from './texts.ts';

/** The panel, whose code is loaded when the user first opens it; `PartFailed` replaces a panel that cannot be loaded. */
const ScreenshotPanel = lazyPart<ScreenshotPanelProps>(
  async () => (await import('./ScreenshotPanel.tsx')).ScreenshotPanel,
  ({ onRetry, onClose }) => (
    <PartFailed message={texts.pictureOptionsFailed} onRetry={onRetry} onClose={onClose} />
  ),
);

interface SlideToolsProps {
  /** The measurements and the chosen measuring tool. */
  readonly drawing: Drawing;
  /** Whether the slide has a scale, which the counting circle of 1 mm² needs. */
  readonly isCalibrated: boolean;
  /** Chooses a measuring tool, or deselects it when it is already chosen. */
  readonly onChooseTool: (kind: ShapeKind) => void;
  /** Removes the last placed point or, without an unfinished shape, the last measurement. */
  readonly onUndo: () => void;
  readonly onClear: () => void;
  readonly colours: SlideColours;
  readonly whiteBalance: WhiteBalance;
  readonly areColoursOpen: boolean;
  readonly onToggleColours: () => void;
  /** Saves a picture of the view as it is on the screen. */
  readonly onScreenshot: () => void;
  /** Props of the panel that saves a picture; null while the panel is closed. */
  readonly pictures: Omit<ScreenshotPanelProps, 'onClose'> | null;
  readonly onTogglePictures: () => void;
  readonly onCopyLink: () => void;
  /** Whether the link has just been copied. */
  readonly isLinkCopied: boolean;
  /** Whether a phone shows all tools. */
  readonly areAllShown: boolean;
  readonly onToggleAll: () => void;
  /** Converts the measurements into annotations; null when the user may not annotate. */
  readonly onKeep: (() => void) | null;
  /** Starts the drawing mode; null when the page shows no annotations. */
  readonly onAnnotate: (() => void) | null;
  readonly areResultsOpen: boolean;
  /** Toggles the panel of result layers (such as detected cells); null if none exist and the user cannot add any. */
  readonly onToggleResults: (() => void) | null;
}

/** Buttons for measuring, counting, colours, pictures, the link to the view, annotations and result layers. */
// oxlint-disable-next-line lamina/max-own-lines -- a list of buttons
export function SlideTools(props: SlideToolsProps) {
  const { drawing, onChooseTool, areColoursOpen } = props;
  const coloursButton = useRef<HTMLButtonElement>(null);
  const picturesButton = useRef<HTMLButtonElement>(null);
  const isEmpty = drawing.shapes.length === 0 && drawing.placedPoints.length === 0;
  const areColoursChanged = !isAsScanned(props.colours.adjustment);
  const toolProps = (kind: ShapeKind) => ({
    isPressed: drawing.tool === kind,
    onClick: () => onChooseTool(kind),
  });
  /** A button whose label changes has a constant `key`, so that React keeps its element and the element keeps the focus. */
  const buttons: readonly (Omit<ToolButtonProps, 'tooltip'> & { readonly key?: string })[] = [
    ...(props.onAnnotate === null
      ? []
      : [{ label: texts.annotations, shortcut: 'D', Icon: IconPencil, onClick: props.onAnnotate }]),
    ...(props.onToggleResults === null
      ? []
      : [
          {
            label: texts.results,
            Icon: IconStack2,
            isExpanded: props.areResultsOpen,
            onClick: props.onToggleResults,
          },
        ]),
    { label: texts.ruler, shortcut: 'M', Icon: IconRuler2, ...toolProps('ruler') },
    { label: texts.area, shortcut: 'A', Icon: IconPolygon, ...toolProps('area') },
    {
      label: props.isCalibrated ? texts.countingCircle : texts.countingCircleUncalibrated,
      shortcut: 'C',
      Icon: IconCircle,
      isDisabled: !props.isCalibrated,
      ...toolProps('circle'),
    },
    { label: texts.count, shortcut: 'K', Icon: IconTallymarks, ...toolProps('mark') },
    { label: texts.undo, Icon: IconArrowBackUp, isDisabled: isEmpty, onClick: props.onUndo },
    ...(props.onKeep === null || drawing.shapes.length === 0
      ? []
      : [{ label: texts.keepMeasurements, Icon: IconDeviceFloppy, onClick: props.onKeep }]),
    { label: texts.clear, Icon: IconTrash, isDisabled: isEmpty, onClick: props.onClear },
    {
      key: texts.colours,
      label: areColoursChanged ? texts.labelOfChanged(texts.colours) : texts.colours,
      shortcut: 'B',
      isMarked: areColoursChanged,
      Icon: IconAdjustments,
      isExpanded: areColoursOpen,
      onClick: props.onToggleColours,
      ref: coloursButton,
    },
    { label: texts.screenshot, shortcut: 'S', Icon: IconCamera, onClick: props.onScreenshot },
    {
      label: texts.pictureOptions,
      shortcut: 'Shift + S',
      Icon: IconPhotoDown,
      isExpanded: props.pictures !== null,
      onClick: props.onTogglePictures,
      ref: picturesButton,
    },
    {
      key: texts.copyLink,
      label: props.isLinkCopied ? texts.linkCopied : texts.copyLink,
      shortcut: 'L',
      Icon: props.isLinkCopied ? IconCheck : IconLink,
      onClick: props.onCopyLink,
    },
  ];
  return (
    <div className={classes.tools}>
      {areColoursOpen && (
        <ColourPanel
          colours={props.colours}
          whiteBalance={props.whiteBalance}
          onClose={() => {
            props.onToggleColours();
            coloursButton.current?.focus();
          }}
        />
      )}
      {props.pictures !== null && (
        <ScreenshotPanel
          {...props.pictures}
          onClose={() => {
            props.onTogglePictures();
            picturesButton.current?.focus();
          }}
        />
      )}
      <div
        className={classes.toolButtons}
        role="toolbar"
        aria-label={texts.tools}
        aria-orientation="vertical"
      >
        {buttons.map(({ key, ...button }) => (
          <ToolButton key={key ?? button.label} tooltip="left" shownOn="wide" {...button} />
        ))}
        <ToolButton
          label={props.areAllShown ? texts.fewerTools : texts.allTools}
          Icon={IconDots}
          tooltip="left"
          shownOn="narrow"
          isExpanded={props.areAllShown}
          onClick={props.onToggleAll}
        />
      </div>
    </div>
  );
}
