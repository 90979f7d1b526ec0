/** The toolbar on the left of the slide, with the panel in which the user sets the rotation angle. */
import {
  IconAngle,
  IconArrowUpCircle,
  IconFlipHorizontal,
  IconHome,
  IconKeyboard,
  IconMaximize,
  IconMinimize,
  IconMinus,
  IconPlus,
  IconRotate2,
  IconRotateClockwise2,
} from '@tabler/icons-react';
import { useRef } from 'react';
import { RotationPanel } from './RotationPanel.tsx';
import classes from './SlideViewer.module.css';
import type { Pose } from './slide-view.ts';
import { ToolButton, type ToolButtonProps } from './ToolButton.tsx';
import { texts } from './texts.ts';

interface SlideControlsProps {
  readonly isFullPage: boolean;
  /** Current rotation and mirroring of the view. */
  readonly pose: Pose;
  /** Whether the drawing mode is on: a phone then shows the drawing tools in place of the zoom buttons. */
  readonly isAnnotating: boolean;
  /** Whether the panel for the rotation angle is open. */
  readonly isRotationOpen: boolean;
  readonly onToggleRotation: () => void;
  readonly onZoomIn: () => void;
  readonly onZoomOut: () => void;
  /** Shows the whole slide. */
  readonly onGoHome: () => void;
  readonly onToggleFullPage: () => void;
  readonly onRotateLeft: () => void;
  readonly onRotateRight: () => void;
  /** @param degrees clockwise on the screen, from 0 (inclusive) to 360 (exclusive) */
  readonly onRotateTo: (degrees: number) => void;
  readonly onResetRotation: () => void;
  readonly onMirror: () => void;
  /** Opens the list of keyboard shortcuts. */
  readonly onHelp: () => void;
}

/** Buttons for zoom, rotation, mirroring, full page and keyboard help. */
// oxlint-disable-next-line lamina/max-own-lines -- a list of buttons
export function SlideControls(props: SlideControlsProps) {
  const { pose } = props;
  const rotationButton = useRef<HTMLButtonElement>(null);
  // `shownOn: 'wide'` hides a button on phones until the user shows all tools; without `shownOn`, every device shows the button.
  const zoomShownOn = props.isAnnotating ? 'wide' : undefined;
  const buttons: readonly Omit<ToolButtonProps, 'tooltip'>[] = [
    { label: texts.zoomIn, shortcut: '+', Icon: IconPlus, onClick: props.onZoomIn, shownOn: zoomShownOn },
    { label: texts.zoomOut, shortcut: '-', Icon: IconMinus, onClick: props.onZoomOut, shownOn: zoomShownOn },
    { label: texts.goHome, shortcut: 'H', Icon: IconHome, onClick: props.onGoHome },
    {
      label: texts.toggleFullPage,
      Icon: props.isFullPage ? IconMinimize : IconMaximize,
      onClick: props.onToggleFullPage,
      isPressed: props.isFullPage,
    },
    {
      label: texts.rotateLeft,
      shortcut: 'Shift + R',
      Icon: IconRotate2,
      onClick: props.onRotateLeft,
      shownOn: 'wide',
    },
    {
      label: texts.rotateRight,
      shortcut: 'R',
      Icon: IconRotateClockwise2,
      onClick: props.onRotateRight,
      shownOn: 'wide',
    },
    {
      label: texts.rotationAngle,
      Icon: IconAngle,
      onClick: props.onToggleRotation,
      isExpanded: props.isRotationOpen,
      shownOn: 'wide',
      ref: rotationButton,
    },
    {
      label: texts.resetRotation,
      Icon: IconArrowUpCircle,
      onClick: props.onResetRotation,
      isDisabled: pose.rotation === 0,
      shownOn: 'wide',
    },
    {
      label: texts.mirror,
      shortcut: 'F',
      Icon: IconFlipHorizontal,
      onClick: props.onMirror,
      isPressed: pose.isMirrored,
      shownOn: 'wide',
    },
    {
      label: texts.keyboardHelp,
      shortcut: '?',
      Icon: IconKeyboard,
      onClick: props.onHelp,
      shownOn: 'keyboard',
    },
  ];
  return (
    <div className={classes.controls}>
      <div
        className={classes.controlButtons}
        role="toolbar"
        aria-label={texts.controls}
        aria-orientation="vertical"
      >
        {buttons.map((button) => (
          <ToolButton key={button.label} tooltip="right" {...button} />
        ))}
      </div>
      {props.isRotationOpen && (
        <RotationPanel
          rotation={pose.rotation}
          onRotateTo={props.onRotateTo}
          onClose={() => {
            props.onToggleRotation();
            rotationButton.current?.focus();
          }}
        />
      )}
    </div>
  );
}
