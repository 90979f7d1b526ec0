import { Kbd, Modal } from '@mantine/core';
import { chosenLanguageOr } from '../language/language.ts';
import classes from './SlideViewer.module.css';
import { texts } from './texts.ts';

interface KeyboardHelpProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

/** The dialog with all keyboard shortcuts of the viewer. */
export function KeyboardHelp({ isOpen, onClose }: KeyboardHelpProps) {
  return (
    <Modal
      opened={isOpen}
      onClose={onClose}
      title={texts.keyboardHelp}
      size="lg"
      lang={chosenLanguageOr('en')} // English unless the user has chosen Turkish
      closeButtonProps={{ 'aria-label': texts.close }}
      // Outside of `main`, browsers would announce the dialog's `header` element as a second header of the page.
      portalProps={{ target: 'main' }}
    >
      <dl className={classes.keys}>
        {texts.keys.map(([keys, action]) => (
          <div key={action}>
            <dt>
              {keys.map((key) => (
                <Kbd key={key}>{key}</Kbd>
              ))}
            </dt>
            <dd>{action}</dd>
          </div>
        ))}
      </dl>
    </Modal>
  );
}
