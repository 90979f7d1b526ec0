import { ActionIcon, Tooltip } from '@mantine/core';
import {
  IconHome,
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
  readonly onZoomIn: () => void;
  readonly onZoomOut: () => void;
  readonly onGoHome: () => void;
  readonly onToggleFullPage: () => void;
  readonly onRotateLeft: () => void;
  readonly onRotateRight: () => void;
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
  ];
  return (
    <div className={classes.controls} role="toolbar" aria-label={texts.controls} aria-orientation="vertical">
      {buttons.map(({ label, Icon, onClick, pressed }) => (
        <Tooltip key={label} label={label} position="right" openDelay={400}>
          <ActionIcon variant="default" size={40} aria-label={label} aria-pressed={pressed} onClick={onClick}>
            <Icon size={iconSize} aria-hidden />
          </ActionIcon>
        </Tooltip>
      ))}
    </div>
  );
}
