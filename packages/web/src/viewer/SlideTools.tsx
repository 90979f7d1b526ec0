import { ActionIcon, Tooltip } from '@mantine/core';
import {
  IconAdjustments,
  IconArrowBackUp,
  IconCamera,
  IconCircle,
  IconPolygon,
  IconRuler2,
  IconTrash,
} from '@tabler/icons-react';
import type { ColourAdjustment } from './colours/adjustment.ts';
import { ColourPanel } from './colours/ColourPanel.tsx';
import type { Drawing, DrawingStep } from './overlay/drawing.ts';
import classes from './SlideViewer.module.css';
import { texts } from './texts.ts';

const iconSize = 20;

interface SlideToolsProps {
  readonly drawing: Drawing;
  /** Whether lengths are known: without them there is no square millimetre. */
  readonly isCalibrated: boolean;
  readonly onDraw: (step: DrawingStep) => void;
  readonly colours: ColourAdjustment;
  readonly onColours: (colours: ColourAdjustment) => void;
  readonly areColoursOpen: boolean;
  readonly onToggleColours: () => void;
  readonly onScreenshot: () => void;
}

/** What measures a slide, changes its colours and takes a picture of it; nothing of it is kept. */
export function SlideTools(props: SlideToolsProps) {
  const { drawing, onDraw, areColoursOpen } = props;
  const isEmpty = drawing.shapes.length === 0 && drawing.fixed.length === 0;
  const buttons = [
    {
      label: texts.ruler,
      Icon: IconRuler2,
      pressed: drawing.tool === 'ruler',
      onClick: () => onDraw({ type: 'take', tool: 'ruler' }),
    },
    {
      label: texts.area,
      Icon: IconPolygon,
      pressed: drawing.tool === 'area',
      onClick: () => onDraw({ type: 'take', tool: 'area' }),
    },
    {
      label: props.isCalibrated ? texts.countingCircle : texts.countingCircleUncalibrated,
      Icon: IconCircle,
      pressed: drawing.tool === 'circle',
      isDisabled: !props.isCalibrated,
      onClick: () => onDraw({ type: 'take', tool: 'circle' }),
    },
    {
      label: texts.undo,
      Icon: IconArrowBackUp,
      isDisabled: isEmpty,
      onClick: () => onDraw({ type: 'undo' }),
    },
    { label: texts.clear, Icon: IconTrash, isDisabled: isEmpty, onClick: () => onDraw({ type: 'clear' }) },
    {
      label: texts.colours,
      Icon: IconAdjustments,
      expanded: areColoursOpen,
      onClick: props.onToggleColours,
    },
    { label: texts.screenshot, Icon: IconCamera, onClick: props.onScreenshot },
  ];
  return (
    <div className={classes.tools}>
      {areColoursOpen && <ColourPanel adjustment={props.colours} onChange={props.onColours} />}
      <div
        className={classes.toolButtons}
        role="toolbar"
        aria-label={texts.tools}
        aria-orientation="vertical"
      >
        {buttons.map(({ label, Icon, onClick, pressed, expanded, isDisabled = false }) => (
          <Tooltip key={label} label={label} position="left" openDelay={400}>
            <ActionIcon
              variant={pressed || expanded ? 'filled' : 'default'}
              size={40}
              aria-label={label}
              aria-pressed={pressed}
              aria-expanded={expanded}
              // A disabled button would lose the focus of the person who has just used it.
              aria-disabled={isDisabled || undefined}
              data-faint={isDisabled || undefined}
              onClick={isDisabled ? undefined : onClick}
            >
              <Icon size={iconSize} aria-hidden />
            </ActionIcon>
          </Tooltip>
        ))}
      </div>
    </div>
  );
}
