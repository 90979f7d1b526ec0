import { ActionIcon, Kbd, Tooltip } from '@mantine/core';
import type { ComponentType, Ref } from 'react';

const iconSize = 20;

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
  /** Whether the setting behind the button differs from its default, such as changed colours. */
  readonly isMarked?: boolean | undefined;
  readonly isDisabled?: boolean | undefined;
  /**
   * Devices that show the button: `wide` hides it on phones until the person shows all tools, `narrow` shows it only on phones,
   * `keyboard` only on devices with a keyboard.
   */
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
    // The panel that the button has opened is beside it: a tooltip would cover the panel.
    <Tooltip label={name} position={tooltip} openDelay={400} disabled={isExpanded === true}>
      <ActionIcon
        ref={ref}
        variant={isPressed || isExpanded ? 'filled' : 'default'}
        size={40}
        aria-label={label}
        aria-pressed={isPressed}
        aria-expanded={isExpanded}
        aria-keyshortcuts={shortcut?.replaceAll(' ', '') /* `Shift+R`, as the attribute requires */}
        // A disabled button would lose the focus of the person who has just used it.
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
