import { ActionIcon, Kbd, Tooltip } from '@mantine/core';
import type { ComponentType, Ref } from 'react';

// Sizes in CSS pixels.
const iconSize = 20;
const buttonSize = 40;
/** The tooltip appears when the pointer has rested on the button for this time. */
const tooltipDelayMs = 400;

export interface ToolButtonProps {
  readonly label: string;
  readonly Icon: ComponentType<{ readonly size: number; readonly 'aria-hidden': true }>;
  readonly onClick: () => void;
  /** Side of the button on which its tooltip appears. */
  readonly tooltip: 'left' | 'right';
  /** Keyboard shortcut with the same effect, as printed on keyboards: `M`, `Shift + R`. */
  readonly shortcut?: string | undefined;
  /** Whether the function of a toggle button is on; absent for other buttons. */
  readonly isPressed?: boolean | undefined;
  /** Whether the panel of the button is open; absent for buttons without a panel. */
  readonly isExpanded?: boolean | undefined;
  /** Whether the setting that the button opens differs from its default, such as changed colours. */
  readonly isMarked?: boolean | undefined;
  readonly isDisabled?: boolean | undefined;
  /**
   * Devices that show the button: with `wide`, phones show it only after the user has shown all tools; with `narrow`, only
   * phones show it; with `keyboard`, only devices with a keyboard. By default, all devices show it.
   */
  readonly shownOn?: 'wide' | 'narrow' | 'keyboard' | undefined;
  readonly ref?: Ref<HTMLButtonElement>;
}

/** A button over the slide, with its name and key in a tooltip. */
export function ToolButton({ label, Icon, shortcut, tooltip, ref, ...props }: ToolButtonProps) {
  const { isPressed, isExpanded, isDisabled = false } = props;
  const labelWithShortcut = (
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
    // No tooltip while the panel of the button is open: the panel is beside the button, and the tooltip would cover the panel.
    <Tooltip
      label={labelWithShortcut}
      position={tooltip}
      openDelay={tooltipDelayMs}
      disabled={isExpanded === true}
    >
      <ActionIcon
        ref={ref}
        variant={isPressed || isExpanded ? 'filled' : 'default'}
        size={buttonSize}
        aria-label={label}
        aria-pressed={isPressed}
        aria-expanded={isExpanded}
        aria-keyshortcuts={shortcut?.replaceAll(' ', '') /* `Shift+R`, as the attribute requires */}
        // Not `disabled`: a button that the click itself disables, such as "Undo", would lose the keyboard focus.
        aria-disabled={isDisabled || undefined}
        // The style sheet reads the `data-` attributes.
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
