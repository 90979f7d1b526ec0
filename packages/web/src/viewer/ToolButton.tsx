import { ActionIcon, Kbd, Tooltip } from '@mantine/core';
import type { ComponentType, Ref } from 'react';

const iconSize = 20;

export interface ToolButtonProps {
  readonly label: string;
  readonly Icon: ComponentType<{ readonly size: number; readonly 'aria-hidden': true }>;
  readonly onClick: () => void;
  /** On which side its tooltip stands. */
  readonly tooltip: 'left' | 'right';
  /** The key that does the same, as printed on keyboards: `M`, `Shift + R`. */
  readonly shortcut?: string | undefined;
  /** Given for buttons that stay pressed. */
  readonly isPressed?: boolean | undefined;
  /** Given for buttons that open a panel. */
  readonly isExpanded?: boolean | undefined;
  /** Whether what it sets differs from how the slide was scanned. */
  readonly isMarked?: boolean | undefined;
  readonly isDisabled?: boolean | undefined;
  /** `wide`: hidden on a phone until the person asks for all tools. `narrow`: for phones alone. `keyboard`: hidden without one. */
  readonly shownOn?: 'wide' | 'narrow' | 'keyboard' | undefined;
  readonly ref?: Ref<HTMLButtonElement>;
}

/** A button over the slide, with its name and key in a tooltip. */
export function ToolButton({ label, Icon, shortcut, tooltip, ref, ...props }: ToolButtonProps) {
  const { isPressed, isExpanded, isDisabled = false } = props;
  const name = (
    <>
      {label}
      {shortcut !== undefined && (
        <>
          {' '}
          <Kbd size="xs">{shortcut}</Kbd>
        </>
      )}
    </>
  );
  return (
    <Tooltip label={name} position={tooltip} openDelay={400}>
      <ActionIcon
        ref={ref}
        variant={isPressed || isExpanded ? 'filled' : 'default'}
        size={40}
        aria-label={label}
        aria-pressed={isPressed}
        aria-expanded={isExpanded}
        aria-keyshortcuts={shortcut?.replaceAll(' ', '')}
        // A disabled button would lose the focus of the person who has just used it.
        aria-disabled={isDisabled || undefined}
        data-faint={isDisabled || undefined}
        data-marked={props.isMarked || undefined}
        data-shown-on={props.shownOn}
        onClick={isDisabled ? undefined : props.onClick}
      >
        <Icon size={iconSize} aria-hidden />
      </ActionIcon>
    </Tooltip>
  );
}
