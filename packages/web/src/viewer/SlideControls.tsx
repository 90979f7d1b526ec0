import { ActionIcon, Tooltip } from '@mantine/core';
import {
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
import classes from './SlideViewer.module.css';
import { texts } from './texts.ts';

const iconSize = 20;

interface SlideControlsProps {
  readonly isFullPage: boolean;
  readonly isRotated: boolean;
  readonly isMirrored: boolean;
  readonly onZoomIn: () => void;
  readonly onZoomOut: () => void;
  readonly onGoHome: () => void;
  readonly onToggleFullPage: () => void;
  readonly onRotateLeft: () => void;
  readonly onRotateRight: () => void;
  readonly onResetRotation: () => void;
  readonly onMirror: () => void;
  readonly onHelp: () => void;
}

/** Buttons for what the mouse, the fingers and the keyboard can do too. */
export function SlideControls(props: SlideControlsProps) {
  const FullPageIcon = props.isFullPage ? IconMinimize : IconMaximize;
  const buttons = [
    { label: texts.zoomIn, Icon: IconPlus, onClick: props.onZoomIn },
    { label: texts.zoomOut, Icon: IconMinus, onClick: props.onZoomOut },
    { label: texts.goHome, Icon: IconHome, onClick: props.onGoHome },
    {
      label: texts.toggleFullPage,
      Icon: FullPageIcon,
      onClick: props.onToggleFullPage,
      pressed: props.isFullPage,
    },
    { label: texts.rotateLeft, Icon: IconRotate2, onClick: props.onRotateLeft },
    { label: texts.rotateRight, Icon: IconRotateClockwise2, onClick: props.onRotateRight },
    {
      label: texts.resetRotation,
      Icon: IconArrowUpCircle,
      onClick: props.onResetRotation,
      isDisabled: !props.isRotated,
    },
    { label: texts.mirror, Icon: IconFlipHorizontal, onClick: props.onMirror, pressed: props.isMirrored },
    { label: texts.keyboardHelp, Icon: IconKeyboard, onClick: props.onHelp },
  ];
  return (
    <div className={classes.controls} role="toolbar" aria-label={texts.controls} aria-orientation="vertical">
      {buttons.map(({ label, Icon, onClick, pressed, isDisabled = false }) => (
        <Tooltip key={label} label={label} position="right" openDelay={400}>
          <ActionIcon
            variant={pressed ? 'filled' : 'default'}
            size={40}
            aria-label={label}
            aria-pressed={pressed}
            // A disabled button would lose the focus of the person who has just used it.
            aria-disabled={isDisabled || undefined}
            data-faint={isDisabled || undefined}
            onClick={onClick}
          >
            <Icon size={iconSize} aria-hidden />
          </ActionIcon>
        </Tooltip>
      ))}
    </div>
  );
}
